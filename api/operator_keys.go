package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// operatorKeyRoutes are the operations on named operator keys.
var operatorKeyRoutes = []operation{
	do(rest.Route{
		Path: "/v1/admin/operator_keys/create", Name: "createOperatorKey", Role: storage.RoleAdmin, Checks: true, Errors: []string{rest.CodeUnavailable},
		Summary:     "Create a named operator key with a role",
		Description: "The response shows the key's text, this once. read reads; operate also changes organizations and what belongs to them; admin does everything.",
	}, (*server).createOperatorKey),
	do(rest.Route{
		Path: "/v1/admin/operator_keys/list", Name: "listOperatorKeys", Role: storage.RoleAdmin, Errors: []string{},
		Summary: "List the operator keys, without their secrets",
	}, listOf[wire.PageInput](storage.KindOperatorKey, plain(showOperatorKey))),
	do(rest.Route{Path: "/v1/admin/operator_keys/{id}/revoke", Name: "revokeOperatorKey", Role: storage.RoleAdmin, Summary: "Revoke an operator key at once"}, (*server).revokeOperatorKey),
}

func showOperatorKey(k *storage.OperatorKey) wire.OperatorKey {
	return wire.OperatorKey{ID: k.ID, Name: k.Name, Role: k.Role, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, CreatedAt: k.CreatedAt}
}

func (s *server) createOperatorKey(ctx context.Context, c *rest.Call, in *wire.CreateOperatorKeyInput) (wire.OperatorKeyWithText, error) {
	key, text := storage.NewOperatorKey(in.Name, in.Role, c.Now)
	if in.ExpiresAt != nil {
		key.ExpiresAt = *in.ExpiresAt
		c.Wrong.Check(in.ExpiresAt.After(c.Now), "expiresAt", "must be in the future")
	}
	err := s.create(ctx, c, &key)
	return wire.OperatorKeyWithText{OperatorKey: showOperatorKey(&key), Text: text}, err
}

func (s *server) revokeOperatorKey(ctx context.Context, c *rest.Call, _ *struct{}) (wire.OperatorKey, error) {
	key, err := storage.Update(ctx, s.Store, storage.OperatorKeyRef(c.ID), func(k *storage.OperatorKey) error {
		k.Revoke(c.Now)
		return nil
	})
	return showOperatorKey(&key), err
}
