package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/config"
)

// usageError is a mistake in the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

func isUsage(err error) bool {
	_, usage := errors.AsType[*usageError](err)
	_, settings := errors.AsType[*config.Error](err)
	return usage || settings
}

// usageSentence returns a usage error in one line, with a reference to the command's help. It
// adds cobra's suggestions, which follow on separate lines, to the sentence.
func usageSentence(err error, cmd *cobra.Command) string {
	help := cmd.CommandPath() + " --help"
	if settings, ok := errors.AsType[*config.Error](err); ok && len(settings.Mistakes) > 1 {
		return fmt.Sprintf("%s\nSee %q.", settings, help) // a line for each mistake
	}
	text := strings.ReplaceAll(flagGroup(err.Error()), "\n\nDid you mean this?\n\t", ": did you mean ")
	return fmt.Sprintf("%s; see %q", strings.Join(strings.Fields(strings.ReplaceAll(text, "\n\t", " or ")), " "), help)
}

// flagGroups are cobra's errors about several flags, and ours.
var flagGroups = []struct {
	cobra      *regexp.Regexp
	join, says string
}{
	{regexp.MustCompile(`^if any flags in the group \[.*] are set none of the others can be; \[(.*)] were all set$`), " and ", "%s exclude each other"},
	{regexp.MustCompile(`^if any flags in the group \[(.*)] are set they must all be set; missing \[.*]$`), " and ", "%s must be given together"},
	{regexp.MustCompile(`^at least one of the flags in the group \[(.*)] is required$`), " or ", "%s must be given"},
}

// flagGroup rewrites an error of cobra about several flags, with the flags as a user types them.
func flagGroup(text string) string {
	for _, g := range flagGroups {
		if found := g.cobra.FindStringSubmatch(text); found != nil {
			return fmt.Sprintf(g.says, "--"+strings.ReplaceAll(found[1], " ", g.join+"--"))
		}
	}
	return text
}

// sentence returns the text that reports an error.
func (g *globals) sentence(err error) string {
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return g.refusal(refused)
	}
	sending, ok := errors.AsType[*url.Error](err)
	if !ok {
		return err.Error()
	}
	network, ok := errors.AsType[*net.OpError](err)
	switch {
	case sending.Timeout() || errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no response from the server at %s in time", g.server())
	case ok && network.Op == "dial":
		if g.isPartner() {
			return fmt.Sprintf("no server at %s: name its address with --api-url", g.apiURL)
		}
		return fmt.Sprintf("no server at %s: start one with \"gridhook serve\", or name its address with --admin-url", g.adminURL)
	}
	text := fmt.Sprintf("request to the server at %s failed: %v", g.server(), sending.Err)
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		text += ": name the file of its certificate authority in SSL_CERT_FILE"
	}
	return text
}

// refusal describes an error response of the server and suggests a remedy.
func (g *globals) refusal(e *client.Error) string {
	text := strings.TrimSuffix(e.Error(), ".")
	switch {
	case e.Status == http.StatusUnauthorized && g.isPartner():
		return fmt.Sprintf("the server at %s refused the API key: use a key of gridhook key create that is not revoked or expired", g.apiURL)
	case e.Status == http.StatusUnauthorized:
		_, source, _ := g.operatorKey()
		return fmt.Sprintf("the server at %s refused the operator's key from %s: use the operator.key of that server's data folder, and the address of its admin listener", g.adminURL, source)
	case e.Code == client.CodeValidationFailed:
		return text
	case e.Code == client.CodeNotFound && strings.Contains(text, "no operation at this path") && !g.isPartner():
		return fmt.Sprintf("the server at %s has no such operation: name the address of its admin listener with --admin-url", g.adminURL)
	case e.Code == client.CodeNotFound && strings.Contains(text, "rate plan") && g.org != "":
		return text + `: look for it with --org "" among the plans that all organizations share, or add a plan of the catalog with gridhook plan add`
	case e.RecoveryAction != "":
		shown := strings.NewReplacer("retry_after_seconds", fmt.Sprintf("%d seconds", e.RetryAfterSeconds), "organizationId and the header x-gridhook-organization", "--org")
		text += ". " + strings.TrimSuffix(shown.Replace(e.RecoveryAction), ".")
	}
	if e.Status >= http.StatusInternalServerError && e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// nameFlags names the flags instead of the fields in a refusal of the server, and the unit of
// a number that the flag takes as a duration.
func nameFlags(cmd *cobra.Command, flags []bodyFlag, err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	for i := range refused.FieldErrors {
		wrong := &refused.FieldErrors[i]
		wrong.Message = withFlags(cmd, flags, wrong.Message)
		flag, ok := flagOf(cmd, flags, wrong.Field)
		if !ok {
			continue
		}
		wrong.Field = "--" + flag.name
		if s, isSpan := flag.value.(span); isSpan && strings.HasPrefix(wrong.Message, "must be from ") {
			wrong.Message += map[time.Duration]string{time.Minute: " minutes", time.Second: " seconds"}[s.unit]
		}
	}
	return err
}

// fieldName matches the name of a field in a sentence, such as startTime.
var fieldName = regexp.MustCompile(`\b[a-z]+[A-Z]\w*`)

// withFlags replaces the fields in a sentence by their flags.
func withFlags(cmd *cobra.Command, flags []bodyFlag, text string) string {
	return fieldName.ReplaceAllStringFunc(text, func(field string) string {
		if flag, ok := flagOf(cmd, flags, field); ok {
			return "--" + flag.name
		}
		return field
	})
}

// flagOf returns the flag that sets a field such as eventTypes[0]. Of several flags for a
// field, it returns the given one.
func flagOf(cmd *cobra.Command, flags []bodyFlag, field string) (flag bodyFlag, ok bool) {
	for _, f := range flags {
		part, sets := strings.CutPrefix(field, cmp.Or(f.field, f.name))
		if sets && (part == "" || part[0] == '[') && (!ok || given(cmd, f.name)) {
			flag, ok = f, true
		}
	}
	return flag, ok
}

// takes checks a command's arguments. names are the arguments' names in errors.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("%s is missing", names[len(args)])
		}
		return takesUpTo(len(names))(cmd, args)
	}
}

// takesUpTo accepts at most a number of arguments.
func takesUpTo(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > most {
			if cmd.Flags().Lookup("id") != nil && !given(cmd, "id") {
				return usagef("unexpected argument %q: did you mean --id %[1]s", args[most])
			}
			return usagef("unexpected argument %q", args[most])
		}
		return nil
	}
}
