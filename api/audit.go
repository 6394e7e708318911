package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// auditRoutes are the operations on the audit log.
var auditRoutes = []operation{
	do(rest.Route{
		Path: "/v1/admin/audit/list", Name: "listAudit", Role: storage.RoleRead, Errors: []string{rest.CodeUnavailable},
		Summary: "List who changed what, the newest first",
		Description: "There is an entry for each operation that changed something, by partners and by operators. " +
			"It names the key, the operation and the object, and has no body and no secret.",
	}, (*server).listAudit),
}

func (s *server) listAudit(ctx context.Context, _ *rest.Call, in *wire.ListAuditInput) (wire.Page[storage.AuditEntry], error) {
	list, err := s.Audit.Audit(ctx, in.AuditFilter, in.After, in.Limit+1)
	return rest.NewPage(list, in.Limit, func(e *storage.AuditEntry) string { return e.ID }), err
}
