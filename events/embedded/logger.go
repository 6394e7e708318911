package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
)

// logger passes the server's log lines to slog. The server's notices are internal
// housekeeping, so logger writes them at debug level.
type logger struct {
	log   *slog.Logger
	front *front // nil without MQTT
	// fatal is the first error that prevented the server's start.
	fatal atomic.Pointer[string]
}

func (l *logger) Noticef(format string, v ...any) { l.log.Debug(line(format, v)) }
func (l *logger) Warnf(format string, v ...any)   { l.log.Warn(line(format, v)) }
func (l *logger) Debugf(format string, v ...any)  { l.log.Debug(line(format, v)) }
func (l *logger) Tracef(format string, v ...any)  { l.log.Debug(line(format, v)) }

// Errorf logs an error of an MQTT client, such as a wrong password, as a warning with the
// client's address: the server knows only the address from which the front dialed it.
func (l *logger) Errorf(format string, v ...any) {
	from, problem, ofClient := strings.Cut(fmt.Sprintf(format, v...), " - mid:")
	if ofClient && l.front != nil {
		l.log.Warn("nats-server: mid:"+problem, "client", l.front.clientOf(from))
		return
	}
	l.log.Error(line(format, v))
}

// Fatalf stores the server's error, and Start returns it. The server expects the process
// to exit here, and stops by itself.
func (l *logger) Fatalf(format string, v ...any) {
	why := fmt.Sprintf(format, v...)
	l.fatal.CompareAndSwap(nil, &why)
}

func line(format string, v []any) string { return "nats-server: " + fmt.Sprintf(format, v...) }
