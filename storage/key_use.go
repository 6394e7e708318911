package storage

// KeyUse says when a key was last used. It is a record of its own, so that noting
// it, which every api process does, never writes a key: one that is being revoked
// least of all.
type KeyUse struct {
	KeyID string `json:"keyId"`
	// LastUsedAt is right to about a minute.
	LastUsedAt Time `json:"lastUsedAt"`
	Base
}

// KeyUseRef names the use of a key.
func KeyUseRef(org, keyID string) Ref { return Ref{KindKeyUse, org, keyID} }

// Ref names the use, by its key.
func (u *KeyUse) Ref() Ref { return KeyUseRef(u.OrganizationID, u.KeyID) }

// Validate names every wrong field.
func (u *KeyUse) Validate() error {
	var p Problems
	checkID(&p, "keyId", u.KeyID)
	return p.Err()
}
