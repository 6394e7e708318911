package httpclient

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"testing"
)

// recordWriter writes the records of a TLS 1.3 server that crypto/tls does not let a test
// write: session tickets and key updates at any time.
type recordWriter struct {
	conn     net.Conn
	secret   []byte
	aead     cipher.AEAD
	iv       []byte
	sequence uint64
}

// The types of records and of handshake messages (RFC 8446).
const (
	recordHandshake   = 22
	recordApplication = 23
	messageTicket     = 4
	messageKeyUpdate  = 24
)

// handshake performs a server's handshake over TLS 1.3. Reads go through the returned
// connection, writes through the record writer.
func handshake(t testing.TB, conn net.Conn, certificate tls.Certificate) (io.Reader, *recordWriter, error) {
	var keys bytes.Buffer
	secure := tls.Server(conn, &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
		SessionTicketsDisabled: true, KeyLogWriter: &keys,
	})
	if err := secure.Handshake(); err != nil {
		return nil, nil, err
	}
	if suite := secure.ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
		t.Skipf("the preferred cipher suite is %s", tls.CipherSuiteName(suite))
	}
	w := &recordWriter{conn: conn}
	for line := range strings.Lines(keys.String()) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "SERVER_TRAFFIC_SECRET_0" {
			secret, err := hex.DecodeString(fields[2])
			if err != nil {
				return nil, nil, err
			}
			w.use(secret)
		}
	}
	return secure, w, nil
}

func expand(secret []byte, label string, length int) []byte {
	label = "tls13 " + label
	info := append([]byte{byte(length >> 8), byte(length), byte(len(label))}, label...)
	out, err := hkdf.Expand(sha256.New, secret, string(append(info, 0)), length)
	if err != nil {
		panic(err)
	}
	return out
}

// use starts to write with a traffic secret.
func (w *recordWriter) use(secret []byte) {
	block, err := aes.NewCipher(expand(secret, "key", 16))
	if err == nil {
		w.aead, err = cipher.NewGCM(block)
	}
	if err != nil {
		panic(err)
	}
	w.secret, w.iv, w.sequence = secret, expand(secret, "iv", 12), 0
}

// record encrypts one record.
func (w *recordWriter) record(kind byte, content []byte) []byte {
	nonce := bytes.Clone(w.iv)
	for i, b := range binary.BigEndian.AppendUint64(nil, w.sequence) {
		nonce[4+i] ^= b
	}
	w.sequence++
	plain := append(bytes.Clone(content), kind)
	length := len(plain) + w.aead.Overhead()
	header := []byte{recordApplication, 3, 3, byte(length >> 8), byte(length)}
	return w.aead.Seal(header, nonce, plain, header)
}

// ticket writes a session ticket.
func (w *recordWriter) ticket() error {
	body := binary.BigEndian.AppendUint32(nil, 3600) // lifetime
	body = binary.BigEndian.AppendUint32(body, 1)    // age
	body = append(body, 1, 0)                        // nonce
	body = append(body, 0, 4, 't', 'i', 'c', 'k')    // ticket
	body = append(body, 0, 0)                        // extensions
	message := append([]byte{messageTicket, 0, 0, byte(len(body))}, body...)
	_, err := w.conn.Write(w.record(recordHandshake, message))
	return err
}

// keyUpdate announces the next key, and starts to use it.
func (w *recordWriter) keyUpdate() error {
	_, err := w.conn.Write(w.record(recordHandshake, []byte{messageKeyUpdate, 0, 0, 1, 0}))
	w.use(expand(w.secret, "traffic upd", sha256.Size))
	return err
}
