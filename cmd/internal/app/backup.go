package app

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/events/backup"
)

// BackupPath is where the admin listener hands out backups. It is no operation: the
// answer is a file.
const BackupPath = "/backup"

// BackupRequest says for whom a backup is.
type BackupRequest struct {
	// Recipients are the public keys of those who can read it.
	Recipients []string `json:"recipients"`
}

// serveBackup answers with a backup of everything, encrypted before it leaves the
// process. One that fails in the middle is cut off, so that it cannot be taken for
// whole.
func (a *App) serveBackup(w http.ResponseWriter, r *http.Request) {
	if !a.isOperator(r) {
		refuse(w, http.StatusUnauthorized, api.CodeInvalidAPIKey, "The operator's key is missing or wrong.")
		return
	}
	const most = 64 << 10
	var in BackupRequest
	d := json.NewDecoder(io.LimitReader(r.Body, most))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, api.CodeValidationFailed, "The body must name the recipients.")
		return
	}
	if err := backup.CheckRecipients(in.Recipients); err != nil {
		refuse(w, http.StatusBadRequest, api.CodeValidationFailed, err.Error())
		return
	}
	if !a.backingUp.TryLock() {
		refuse(w, http.StatusConflict, api.CodeConflict, "A backup is being made already.")
		return
	}
	defer a.backingUp.Unlock()
	// It takes as long as it takes: the limits of requests are not for it.
	control, never := http.NewResponseController(w), time.Time{}
	_ = control.SetReadDeadline(never)  // a test's recorder has none
	_ = control.SetWriteDeadline(never) // a test's recorder has none
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	began := time.Now()
	err := backup.Write(r.Context(), a.conn, w, backup.Options{
		Recipients: in.Recipients, Gridhook: a.Version, Folder: a.Data, Now: time.Now,
	})
	if err != nil {
		a.Log.Error("a backup failed", "error", err)
		panic(http.ErrAbortHandler) // cut off
	}
	a.Log.Info("a backup was made", "duration", time.Since(began))
}

func (a *App) isOperator(r *http.Request) bool {
	given, want := sha256.Sum256([]byte(r.Header.Get(api.KeyHeader))), sha256.Sum256([]byte(a.operator))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1 && a.operator != ""
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	answerJSON(w, status, map[string]string{"error_code": code, "message": message})
}
