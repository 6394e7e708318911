package backup

import "filippo.io/age"

// NewKey generates a key pair for backups. The private key decrypts them. The public key
// encrypts them.
func NewKey() (private, public string, err error) {
	k, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return k.String(), k.Recipient().String(), nil
}
