-- Equal requests share one computation.

alter table batches
    add column share_equal boolean not null default true,
    -- Of its requests those whose outcome is an equal one's; known once it has ended.
    add column shared integer not null default 0;
