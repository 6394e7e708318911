package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/config"
)

// usageError is a mistake in the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

func isUsage(err error) bool {
	var usage *usageError
	var settings *config.Error
	return errors.As(err, &usage) || errors.As(err, &settings)
}

// usageSentence returns a usage error in one line. It adds cobra's suggestions, which
// follow on separate lines, to the sentence.
func usageSentence(err error) string {
	var settings *config.Error
	if errors.As(err, &settings) {
		return settings.Error() // a line for each mistake
	}
	text := strings.ReplaceAll(err.Error(), "\n\nDid you mean this?\n\t", ": did you mean ")
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\n\t", " or ")), " ")
}

// seeHelp appends a reference to the command's help to a usage error.
func seeHelp(sentence string, cmd *cobra.Command) string {
	if strings.Contains(sentence, "\n") {
		return fmt.Sprintf("%s\nSee %q.", sentence, cmd.CommandPath()+" --help")
	}
	return fmt.Sprintf("%s; see %q", sentence, cmd.CommandPath()+" --help")
}

// errSome says that the output already reported the failures.
var errSome = errors.New("not everything went well")

// sentence returns the text that reports an error.
func (g *globals) sentence(err error) string {
	var refused *client.Error
	if errors.As(err, &refused) {
		return g.refusal(refused)
	}
	var sending *url.Error
	if !errors.As(err, &sending) {
		return err.Error()
	}
	var network *net.OpError
	switch {
	case sending.Timeout() || errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("the server at %s did not answer in time", g.server())
	case errors.As(err, &network) && network.Op == "dial":
		if g.isPartner() {
			return fmt.Sprintf("no server answers at %s: say where it is with --api-url", g.apiURL)
		}
		return fmt.Sprintf("no server answers at %s: start one with \"gridhook serve\", or say where it is with --admin-url", g.adminURL)
	}
	return fmt.Sprintf("the server at %s cannot be asked: %v", g.server(), sending.Err)
}

// refusal describes an error response of the server and suggests a remedy.
func (g *globals) refusal(e *client.Error) string {
	text := strings.TrimSuffix(e.Error(), ".")
	switch {
	case e.Status == http.StatusUnauthorized && g.isPartner():
		return fmt.Sprintf("the server at %s does not take the API key: use one that gridhook key create has made, and that is not revoked or expired", g.apiURL)
	case e.Status == http.StatusUnauthorized:
		return fmt.Sprintf("the server at %s does not take the operator's key from %s: use the operator.key of that server's data folder", g.adminURL, g.keySource())
	case e.Code == client.CodeValidationFailed:
		return text
	case e.RecoveryAction != "":
		text += ". " + strings.TrimSuffix(e.RecoveryAction, ".")
	}
	if e.Status >= http.StatusInternalServerError && e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// takes checks a command's arguments. names are the arguments' names in errors.
func takes(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef("%s is missing", names[len(args)])
		case len(args) > len(names):
			return usagef("there is an argument too many: %q", args[len(names)])
		}
		return nil
	}
}
