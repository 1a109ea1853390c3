-- The platform's incidents are for webhooks of the platform's own tenant: the administrators of another one see what
-- their webhooks are told, also after whoever added them has lost the right to the platform.
update webhooks w set platform = false
from tenants t
where t.id = w.tenant_id and w.platform and t.name <> 'platform';
