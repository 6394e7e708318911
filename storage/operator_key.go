package storage

import (
	"slices"
	"time"
)

// Role is what an operator key may do. A role includes the roles before it.
type Role string

// The roles of operator keys.
const (
	// RoleRead reads everything that operations show.
	RoleRead Role = "read"
	// RoleOperate also changes organizations and what belongs to them.
	RoleOperate Role = "operate"
	// RoleAdmin also manages operator keys, exports organizations and takes backups.
	RoleAdmin Role = "admin"
)

// Roles returns all roles. Each role includes the roles before it.
func Roles() []Role { return []Role{RoleRead, RoleOperate, RoleAdmin} }

// Includes reports whether the role may do what another role may do.
func (r Role) Includes(other Role) bool {
	return other != "" && slices.Index(Roles(), r) >= slices.Index(Roles(), other)
}

// OperatorKey is a named key to the operator's operations. It stores only a hash of its
// secret.
type OperatorKey struct {
	ID   string `json:"keyId"`
	Name string `json:"name"`
	Role Role   `json:"role"`
	Credential
	Base
}

// OperatorKeyPrefix begins every operator key.
const OperatorKeyPrefix = "gho_"

// NewOperatorKey returns a key with a new 256-bit secret. text is the form for its owner:
// gho_<key id>_<secret>. It is never stored.
func NewOperatorKey(name string, role Role, now time.Time) (key OperatorKey, text string) {
	secret, credential := newSecret()
	key = OperatorKey{ID: NewID("opk_", now), Name: name, Role: role, Credential: credential, Base: Base{OrganizationID: Shared}}
	return key, OperatorKeyPrefix + key.ID + "_" + secret
}

// OperatorKeyRef names an operator key.
func OperatorKeyRef(id string) Ref { return KindOperatorKey.Ref(Shared, id) }

// Ref names the key.
func (k *OperatorKey) Ref() Ref { return OperatorKeyRef(k.ID) }
