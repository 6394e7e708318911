package embedded

import (
	"fmt"
	"log/slog"
	"sync/atomic"
)

// logger hands the server's lines to slog. Its notices are its own housekeeping,
// so they are debug lines here.
type logger struct {
	log *slog.Logger
	// fatal is the first thing that kept the server from starting.
	fatal atomic.Pointer[string]
}

func (l *logger) Noticef(format string, v ...any) { l.log.Debug(line(format, v)) }
func (l *logger) Warnf(format string, v ...any)   { l.log.Warn(line(format, v)) }
func (l *logger) Errorf(format string, v ...any)  { l.log.Error(line(format, v)) }
func (l *logger) Debugf(format string, v ...any)  { l.log.Debug(line(format, v)) }
func (l *logger) Tracef(format string, v ...any)  { l.log.Debug(line(format, v)) }

// Fatalf keeps what the server says when it gives up starting, for Start to
// return. The server expects the process to end here, and stops by itself.
func (l *logger) Fatalf(format string, v ...any) {
	why := fmt.Sprintf(format, v...)
	l.fatal.CompareAndSwap(nil, &why)
}

func line(format string, v []any) string { return "nats-server: " + fmt.Sprintf(format, v...) }
