package vault

import "github.com/gridhook/gridhook/storage"

// SealSource seals the secret and the query of the URL of a source in the clear. before is
// the stored source. An unchanged value keeps its sealed form.
func (v *Vault) SealSource(s, before *storage.Source) (err error) {
	if s.URL, s.SealedURL, err = v.sealURL(s.OrganizationID, s.ID, s.URL, before.SealedURL); err != nil {
		return err
	}
	clear := s.Secret
	s.SealedSecret = ""
	if clear != "" {
		s.Secret = storage.Masked
		s.SealedSecret, err = v.Reseal(s.OrganizationID, s.ID, before.SealedSecret, clear)
	}
	return err
}

// OpenSource replaces the masked secret and URL with their values in the clear.
func (v *Vault) OpenSource(s *storage.Source) error {
	for _, of := range []struct{ masked, sealed *string }{{&s.URL, &s.SealedURL}, {&s.Secret, &s.SealedSecret}} {
		if *of.sealed == "" {
			continue
		}
		clear, err := v.Open(s.OrganizationID, s.ID, *of.sealed)
		if err != nil {
			return err
		}
		*of.masked, *of.sealed = clear, ""
	}
	return nil
}
