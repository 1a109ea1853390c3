-- The number of times that a server took the dispatcher's lock. One that lost it takes it again only while the number
-- is its own: otherwise another server has dispatched since, and its state is old.
create table dispatcher_epoch (
    only_row boolean primary key default true check (only_row),
    epoch bigint not null
);

insert into dispatcher_epoch (epoch) values (0);
