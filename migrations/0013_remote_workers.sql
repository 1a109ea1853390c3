-- Workers of other machines, which join by a token and show a certificate from then on.

-- The authority that issues their certificates, with its key: whoever reads it can make workers.
create table worker_authority (
    is_the_one boolean primary key default true,
    certificate bytea not null,
    private_key bytea not null,
    created_at timestamptz not null,
    constraint worker_authority_one check (is_the_one)
);

-- Tokens that were not used yet. One that is used is deleted.
create table worker_tokens (
    token_hash bytea primary key,
    pool text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null
);

-- Those that may connect: a worker that has no row is refused, whatever its certificate says.
create table remote_workers (
    id uuid primary key,
    pool text not null,
    machine text not null,
    joined_at timestamptz not null,
    -- The end of its newest certificate.
    expires_at timestamptz not null
);
