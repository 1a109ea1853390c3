-- The release before runs on a migrated database, so that going back one release needs no restore. A migration with which
-- it would not sets the floor to its own number: servers that do not have that migration refuse to start.
create table schema_floor (
    single boolean primary key default true check (single),
    migration bigint not null
);
insert into schema_floor (migration) values (0);
