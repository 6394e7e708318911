package storage

// Role is what an operator key may do. A role includes the roles before it.
type Role string

// The roles of operator keys.
const (
	// RoleRead reads everything that operations show.
	RoleRead Role = "read"
	// RoleOperate also changes organizations and what belongs to them.
	RoleOperate Role = "operate"
	// RoleAdmin also manages operator keys, deletes and exports organizations, and takes
	// backups.
	RoleAdmin Role = "admin"
)

// Roles returns all roles. Each role includes the roles before it.
func Roles() []Role { return []Role{RoleRead, RoleOperate, RoleAdmin} }
