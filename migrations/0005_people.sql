-- People who sign in, the tenants they belong to, their sessions; and what keys learned.

create table people (
    id uuid primary key,
    email text not null,
    name text not null,
    -- A PHC string of argon2id; null while no password was set.
    password_hash text,
    -- Who this is to the OpenID provider.
    oidc_issuer text,
    oidc_subject text,
    -- The tenant that invited them and alone vouches that they have the address; null: the platform
    -- or the provider does.
    invited_by uuid references tenants (id),
    created_at timestamptz not null,
    disabled_at timestamptz,
    constraint people_email_unique unique (email),
    constraint people_email_lower check (email = lower(email)),
    constraint people_oidc_unique unique (oidc_issuer, oidc_subject),
    constraint people_oidc check (
        (oidc_issuer is null) = (oidc_subject is null)
        and (oidc_issuer is null or invited_by is null)
    )
);

create table members (
    tenant_id uuid not null references tenants (id),
    person_id uuid not null references people (id),
    role text not null,
    added_at timestamptz not null,
    primary key (tenant_id, person_id),
    constraint members_role check (role in ('viewer', 'trainer', 'publisher', 'admin'))
);

create index members_person on members (person_id);

create table sessions (
    -- SHA-256 of the cookie's token, which has 256 random bits.
    token_hash bytea primary key,
    person_id uuid not null references people (id),
    -- The tenant it is switched to.
    tenant_id uuid not null,
    created_at timestamptz not null,
    used_at timestamptz not null,
    expires_at timestamptz not null,
    -- Who is a member no longer has no session there.
    foreign key (tenant_id, person_id) references members (tenant_id, person_id) on delete cascade,
    constraint sessions_times check (created_at <= used_at and created_at < expires_at)
);

create index sessions_member on sessions (person_id, tenant_id);
create index sessions_expires on sessions (expires_at);

-- With its token a person sets a password, once.
create table invitations (
    person_id uuid primary key references people (id),
    -- SHA-256 of the token, which has 256 random bits.
    token_hash bytea not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    constraint invitations_token_unique unique (token_hash)
);

alter table keys
    add column last_used_at timestamptz,
    -- Plugins whose batches it may announce, as `name` or `name@channel`; null: all of them.
    add column plugins text[],
    -- The secret before the last rotation, and until when it works.
    add column previous_hash bytea,
    add column previous_until timestamptz,
    add constraint keys_previous check ((previous_hash is null) = (previous_until is null));
