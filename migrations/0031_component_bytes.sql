-- The bytes of plugins' components count as stored. Those that were published before do not.
alter table stored_bytes
    drop constraint stored_bytes_writer,
    add constraint stored_bytes_writer check (
        writer in ('earlier', 'admissions', 'outcomes', 'others', 'lone', 'plugins', 'retention')
    );
