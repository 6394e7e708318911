package send

import (
	"io"
	"log"
)

// quiet is where the servers of tests complain.
var quiet = log.New(io.Discard, "", 0)
