package send

import (
	"io"
	"log"
)

// quiet discards the log of test servers.
var quiet = log.New(io.Discard, "", 0)
