package storage

// KeyUse records when a key was last used. Every API process updates it. It is separate
// from Key so that these updates never write a key, least of all a key that is being
// revoked.
type KeyUse struct {
	KeyID string `json:"keyId"`
	// LastUsedAt is accurate to about a minute.
	LastUsedAt Time `json:"lastUsedAt"`
	Base
}

// Ref names the last use by its key.
func (u *KeyUse) Ref() Ref { return KindKeyUse.Ref(u.OrganizationID, u.KeyID) }
