package wire

import "github.com/gridhook/gridhook/storage"

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
