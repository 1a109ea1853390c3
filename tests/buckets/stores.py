"""Emulators of the three stores, each with its vendor's own client and with the options that an operator writes for it."""

import contextlib
import json
import pathlib
import signal
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "trainers")]

from service import clean_environment, free_port  # noqa: E402

BUCKET = "assaytest"
STARTS_WITHIN_S = 60
SIGNED = "AWS4-HMAC-SHA256 Credential=test/20261128/eu-central-1/s3/aws4_request, SignedHeaders=host, Signature=0"


class Store:
    """A process that speaks a vendor's protocol on a port of its own, and keeps what it is given until it ends.

    A subclass has the `scheme` of its URLs, its `command`, `options`, and the client: `create`, `put` and `names`.
    """

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.address = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        log = self.folder / "emulator.log"
        with log.open("wb") as file:
            self._process = subprocess.Popen([str(part) for part in self.command()], stdin=subprocess.DEVNULL, stdout=file,
                                             stderr=file, cwd=self.folder, env=clean_environment())
        until = time.monotonic() + STARTS_WITHIN_S
        while True:
            with contextlib.suppress(Exception):
                self.create()
                return self
            if self._process.poll() is not None or time.monotonic() > until:
                self.__exit__()
                raise RuntimeError(f"the emulator does not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    @contextlib.contextmanager
    def silent(self):
        """Takes connections and answers none."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)


class S3(Store):
    scheme = "s3"

    def command(self):
        return [pathlib.Path(sys.executable).parent / "moto_server", "-p", self.port]

    def options(self):
        return {"endpoint": self.address, "region": "eu-central-1", "allow_http": "true",
                "access_key_id": "test", "secret_access_key": "env:BUCKET_SECRET"}

    def create(self):
        import boto3
        from botocore.config import Config

        self._client = boto3.client("s3", endpoint_url=self.address, region_name="eu-central-1", aws_access_key_id="test",
                                    aws_secret_access_key="test", config=Config(retries={"total_max_attempts": 1}))
        self._client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})

    def put(self, name, text):
        self._client.put_object(Bucket=BUCKET, Key=name, Body=text.encode())

    def names(self, prefix):
        return [each["Key"] for each in self._client.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])]


class Gcs(S3):
    """Google's XML API, which Assay speaks. No emulator that can be had has it, but for the calls that Assay makes it
    is that of S3, without its signatures."""

    scheme = "gs"

    def command(self):
        return [sys.executable, __file__, self.port]

    def options(self):
        account = {"gcs_base_url": self.address, "disable_oauth": True, "client_email": "", "private_key": "",
                   "private_key_id": ""}
        return {"service_account_key": json.dumps(account), "allow_http": "true"}


class Azure(Store):
    scheme = "az"
    # The account that every Azurite has, with its published key.
    ACCOUNT = "devstoreaccount1"
    KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    # The emulator, `azurite-blob`.
    program = None

    def command(self):
        return [self.program, "--blobPort", self.port, "--inMemoryPersistence", "--disableTelemetry", "--silent",
                "--skipApiVersionCheck"]

    def options(self):
        return {"account_name": self.ACCOUNT, "account_key": self.KEY, "endpoint": f"{self.address}/{self.ACCOUNT}",
                "allow_http": "true"}

    def create(self):
        from azure.storage.blob import ContainerClient

        self._container = ContainerClient(f"{self.address}/{self.ACCOUNT}", BUCKET, credential=self.KEY)
        self._container.create_container()

    def put(self, name, text):
        self._container.upload_blob(name, text, overwrite=True)

    def names(self, prefix):
        return list(self._container.list_blob_names(name_starts_with=prefix))


def serve_without_tokens(port):
    """moto for calls without a token: it takes any signature, and refuses calls that have none."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import run_simple

    application = DomainDispatcherApplication(create_backend_app)

    def answer(environ, start_response):
        if environ.get("HTTP_AUTHORIZATION", "").strip() in ("", "Bearer"):
            environ["HTTP_AUTHORIZATION"] = SIGNED
        return application(environ, start_response)

    run_simple("127.0.0.1", port, answer, threaded=True)


if __name__ == "__main__":
    serve_without_tokens(int(sys.argv[1]))
