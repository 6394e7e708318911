package backup_test

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"testing"

	"filippo.io/age"
)

// pack writes a file as anybody with a public key can: names and contents.
func pack(t *testing.T, path, public string, files ...string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	to, err := age.ParseX25519Recipient(public)
	must(t, err)
	sealed, err := age.Encrypt(f, to)
	must(t, err)
	packed := gzip.NewWriter(sealed)
	out := tar.NewWriter(packed)
	for i := 0; i < len(files); i += 2 {
		must(t, out.WriteHeader(&tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1]))}))
		_, err := out.Write([]byte(files[i+1]))
		must(t, err)
	}
	must(t, out.Close())
	must(t, packed.Close())
	must(t, sealed.Close())
	must(t, f.Close())
}
