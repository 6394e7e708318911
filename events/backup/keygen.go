package backup

import "filippo.io/age"

// NewKey makes a key to backups: the private half, which opens them, and the
// public one, for which they are made.
func NewKey() (private, public string, err error) {
	k, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return k.String(), k.Recipient().String(), nil
}
