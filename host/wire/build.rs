fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto/worker.proto");
    let files = protox::compile(["proto/worker.proto"], ["proto"])?;
    tonic_prost_build::configure().bytes(".").compile_fds(files)?;
    Ok(())
}
