-- What an author asks of a plugin: who published a version, and which one a channel had before.

-- Null for what was published before it was noted, and not audited either.
alter table plugins add column published_by text;

update plugins set published_by = acts.actor_name
from audit as acts
where acts.tenant_id = plugins.tenant_id
    and acts.action = 'plugin.publish'
    and acts.subject = plugins.name || '@' || plugins.version;

-- Versions that it pointed to before, the latest last; a rollback takes the last.
alter table channels
    add column earlier text[] not null default '{}',
    add constraint channels_earlier check (cardinality(earlier) <= 32);
