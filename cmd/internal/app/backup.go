package app

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/events/backup"
	"github.com/gridhook/gridhook/storage"
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
	const most = 64 << 10
	var in BackupRequest
	d := json.NewDecoder(io.LimitReader(r.Body, most))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		refuseRecipients(w, r, "the body must be a JSON object that names them")
		return
	}
	if err := backup.CheckRecipients(in.Recipients); err != nil {
		refuseRecipients(w, r, err.Error())
		return
	}
	if !a.backingUp.TryLock() {
		api.Refuse(w, r, &api.Problem{
			Status: http.StatusConflict, Code: api.CodeConflict,
			Message: "A backup is being made already.", Recovery: "Ask again when it is done.",
		})
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

func refuseRecipients(w http.ResponseWriter, r *http.Request, why string) {
	api.Refuse(w, r, &storage.InvalidError{Fields: []storage.FieldError{{Field: "recipients", Message: why}}})
}
