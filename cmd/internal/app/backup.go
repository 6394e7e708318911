package app

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events/backup"
)

// serveBackup responds with a full backup, encrypted before it leaves the process. A
// failed backup ends with a broken connection, so that it cannot look complete. The audit
// log has each backup that began, because a backup has the data of all organizations.
func (a *App) serveBackup(w http.ResponseWriter, r *http.Request, audit func()) {
	const most = 64 << 10
	var in struct {
		Recipients []string `json:"recipients"` // public keys of the backup's readers
	}
	d := json.NewDecoder(io.LimitReader(r.Body, most))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		rest.Refuse(w, r, rest.Invalid("recipients", "the body must be a JSON object that names them"))
		return
	}
	if err := backup.CheckRecipients(in.Recipients); err != nil {
		rest.Refuse(w, r, rest.Invalid("recipients", err.Error()))
		return
	}
	if !a.backingUp.TryLock() {
		rest.Refuse(w, r, rest.NewProblem(rest.CodeConflict, "Another backup is in progress.", "Retry when it is complete."))
		return
	}
	defer a.backingUp.Unlock()
	audit()
	// A backup has no time limit, so the deadlines of requests do not apply.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a test's recorder has no deadline
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	began := time.Now()
	err := backup.Write(r.Context(), a.conn, rest.SteadyWriter{ResponseWriter: w, Stall: backupStall}, backup.Options{
		Recipients: in.Recipients, Gridhook: a.Version, Now: time.Now,
	})
	if err != nil {
		a.Log.Error("backup failed", "error", err)
		panic(http.ErrAbortHandler) // breaks the connection
	}
	a.Log.Info("backup completed", "ms", time.Since(began).Milliseconds())
}

// backupStall is how long a client may read nothing. Meanwhile there is no other backup.
const backupStall = time.Minute
