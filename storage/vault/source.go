package vault

import "github.com/gridhook/gridhook/storage"

// SealSource seals the secret of a source in the clear. before is the stored source, whose
// sealed form stays if the secret is the same.
func (v *Vault) SealSource(s, before *storage.Source) (err error) {
	clear := s.Secret
	s.SealedSecret = ""
	if clear != "" {
		s.Secret = storage.Masked
		s.SealedSecret, err = v.Reseal(s.OrganizationID, s.ID, before.SealedSecret, clear)
	}
	return err
}

// OpenSource replaces the masked secret with the secret in the clear.
func (v *Vault) OpenSource(s *storage.Source) error {
	if s.SealedSecret == "" {
		return nil
	}
	clear, err := v.Open(s.OrganizationID, s.ID, s.SealedSecret)
	if err == nil {
		s.Secret, s.SealedSecret = clear, ""
	}
	return err
}
