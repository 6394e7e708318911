package main

import (
	"fmt"
	"time"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// retryFlags are the flags of an endpoint's retry policy.
func retryFlags() []bodyFlag {
	usual := storage.DefaultRetryPolicy()
	return []bodyFlag{
		{name: "retry-initial", field: "retryPolicy.initialSeconds", value: span{seconds(usual.InitialSeconds), time.Second}, help: "longest first delay before a retry"},
		{name: "retry-multiplier", field: "retryPolicy.multiplier", value: usual.Multiplier, help: "growth of the longest delay from one attempt to the next"},
		{name: "retry-max", field: "retryPolicy.maxSeconds", value: span{seconds(usual.MaxSeconds), time.Second}, help: "longest delay before any retry"},
		{name: "give-up", field: "retryPolicy.giveUpSeconds", value: span{seconds(usual.GiveUpSeconds), time.Second}, help: "time after the trigger during which a delivery is retried, 0 for one attempt"},
		{name: "disable-after", field: "retryPolicy.disableAfterSeconds", value: span{seconds(usual.DisableAfterSeconds), time.Second}, help: "time in which every attempt fails before the endpoint is disabled, 0 for never"},
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// retryText describes a retry policy in one line.
func retryText(p *storage.RetryPolicy) string {
	text := fmt.Sprintf("after up to %s, then %g times as long each, up to %s, for %s", short(seconds(p.InitialSeconds)), p.Multiplier, short(seconds(p.MaxSeconds)), short(seconds(p.GiveUpSeconds)))
	if p.GiveUpSeconds == 0 {
		text = "none"
	}
	if p.DisableAfterSeconds == 0 {
		return text + "; never disabled"
	}
	return fmt.Sprintf("%s; disabled after %s", text, short(seconds(p.DisableAfterSeconds)))
}

// secretChoice are the flags of an endpoint's signature scheme and secret. The secret comes
// from a file, because other users can see a command line.
func secretChoice(usual string) []bodyFlag {
	return []bodyFlag{
		{
			name: "signature", help: "signature `scheme`: hmac, or ed25519, which receivers verify with a public key (default " + usual + ")",
			words: wire.Texts([]storage.Signature{storage.SignatureHMAC, storage.SignatureEd25519}),
		},
		{name: "secret-file", field: "secret", value: textFile, help: "`file` with your own signing secret (whsec_...) for hmac, - for standard input (default generated)"},
	}
}
