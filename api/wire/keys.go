package wire

import (
	"github.com/gridhook/gridhook/storage"
)

// Key is an API key in a response, without its secret.
type Key struct {
	ID             string          `json:"keyId" example:"key_01JZ2E6K8M0000000000000000"`
	OrganizationID string          `json:"organizationId" example:"acme"`
	Description    string          `json:"description" example:"production"`
	Scopes         []storage.Scope `json:"scopes" example:"[\"read\",\"write\",\"trigger\"]"`
	ExpiresAt      storage.Time    `json:"expiresAt" nullable:"true" doc:"null if the key does not expire." example:"null"`
	RevokedAt      storage.Time    `json:"revokedAt" nullable:"true" doc:"null if the key is not revoked." example:"null"`
	LastUsedAt     storage.Time    `json:"lastUsedAt" nullable:"true" doc:"Accurate to about a minute. null if the key was never used."`
	CreatedAt      storage.Time    `json:"createdAt"`
	UpdatedAt      storage.Time    `json:"updatedAt"`
}

// ConsoleLinkInput describes a console link.
type ConsoleLinkInput struct {
	Scopes      []storage.Scope `json:"scopes,omitempty" minItems:"1" itemsEnum:"read,write,trigger" doc:"The permissions of the link, by default read. The API key must have the same scopes."`
	Minutes     int             `json:"expiresMinutes" minimum:"1" maximum:"1440" default:"60" doc:"How long the link is valid, by default an hour."`
	Description string          `json:"description,omitempty" maxLength:"255" doc:"Who the link is for."`
}

// ConsoleLink is a short-lived link to the console.
type ConsoleLink struct {
	Key
	Path string `json:"path" doc:"The path of the link. Put the origin of the public listener before it. The part after # is the key of the link: a browser sends it to no server, and it is in no log." example:"/console/#/link/ghk_key_01JZ2E6K8M0000000000000000_4f1c..."`
}

// KeyWithText is a key with its full text for the partner. Only the response that creates
// the key contains it.
type KeyWithText struct {
	Key
	Text string `json:"key" doc:"The text of the key, which the partner sends. It is not stored." example:"ghk_key_01JZ2E6K8M0000000000000000_4f1c..."`
}

// CreateOperatorKeyInput has the fields of a new operator key.
type CreateOperatorKeyInput struct {
	_ struct{} `required:"name,role"`

	Name      string        `json:"name" minLength:"1" maxLength:"255" doc:"The name of the key's owner, for the audit log." example:"ada"`
	Role      storage.Role  `json:"role"`
	ExpiresAt *storage.Time `json:"expiresAt,omitempty" doc:"Null for a key that does not expire."`
}

// OperatorKey is an operator key in a response, without its secret.
type OperatorKey struct {
	ID        string       `json:"keyId" example:"opk_01JZ2E6K8M0000000000000000"`
	Name      string       `json:"name" example:"ada"`
	Role      storage.Role `json:"role"`
	ExpiresAt storage.Time `json:"expiresAt" nullable:"true" doc:"Null for a key that does not expire." example:"null"`
	RevokedAt storage.Time `json:"revokedAt" nullable:"true" doc:"Null for a key that is not revoked." example:"null"`
	CreatedAt storage.Time `json:"createdAt"`
}

// OperatorKeyWithText is an operator key with its full text. Only the response that
// creates the key contains it.
type OperatorKeyWithText struct {
	OperatorKey
	Text string `json:"key" doc:"The key's text, which its owner sends. It is not stored." example:"gho_opk_01JZ2E6K8M0000000000000000_4f1c..."`
}
