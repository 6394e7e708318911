package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

// resource is a kind of object on a server. It defines the operations' path and the
// display, and from these all of the kind's commands. Requests and responses are JSON:
// the server validates them, and the display reads fields by name.
type resource struct {
	g *globals
	// noun and plural name the object in sentences.
	noun, plural string
	// path is the path of its operations, such as /v1/webhook/endpoints.
	path string
	// owned operations take the organization in their bodies. Partners' operations take
	// it in a header.
	owned bool
	// unpaged lists have one page and take no limit.
	unpaged bool
	// scope adds the flag that selects the owner; nil adds none.
	scope func(*cobra.Command) *cobra.Command
	// columns are the fields that a list shows. more are the columns that -o wide adds.
	// fields are the fields of one object in full. parseFields documents the form.
	columns, more, fields string
	// derive adds values to a record that only tables show. It may be nil.
	derive func(record)
	// below prints more of one object below its fields. It may be nil.
	below func(io.Writer, record)
}

// operation is a command that sends one request and shows its response.
type operation struct {
	// use names the command and its object, if any. "get HOME" is the operation get of
	// one home, "create" an operation of the resource.
	use, short, long, example string
	// path is the operation's path, with {id} for the object. Empty derives the path from
	// use.
	path string
	// takes names the arguments in errors. The default is the noun if use has an object.
	takes []string
	flags []bodyFlag
	// usual are the values of fields that no flag has set.
	usual fields
	// prepare completes or checks the request. after processes the response and may
	// replace it. A response that it returns with an error is shown. Both may be nil.
	prepare func(cmd *cobra.Command, args []string, body fields) error
	after   func(ctx context.Context, c *client.Client, response json.RawMessage) (json.RawMessage, error)
	// fields replaces the resource's fields. done is a sentence to print instead of
	// fields, with {id} for the object and {org} for the --org flag. note is a sentence below the fields.
	fields, done, note string
	// asList shows the response as a list of one.
	asList bool
}

// failsIf returns an operation's after that returns an error for some responses, with the
// response.
func failsIf[T any](message string, failed func(T) bool) func(context.Context, *client.Client, json.RawMessage) (json.RawMessage, error) {
	return func(_ context.Context, _ *client.Client, response json.RawMessage) (json.RawMessage, error) {
		var decoded T
		err := json.Unmarshal(response, &decoded)
		if err == nil && failed(decoded) {
			err = errors.New(message)
		}
		return response, err
	}
}

// command returns the command of an operation. The operation update must change a field.
func (r resource) command(o operation) *cobra.Command {
	name, object, _ := strings.Cut(o.use, " ")
	if o.path == "" {
		o.path = strings.ReplaceAll(name, "-", "_")
		if object != "" {
			o.path = "{id}/" + o.path
		}
	}
	return r.run(o, func(cmd *cobra.Command, args []string, c *client.Client, body fields) error {
		if _, owned := body["organizationId"]; name == "update" && (len(body) == 0 || owned && len(body) == 1) {
			return usagef("name at least one change with a flag")
		}
		response, err := client.Call[json.RawMessage](cmd.Context(), c, r.at(o.path, args), body)
		if err == nil && o.after != nil {
			response, err = o.after(cmd.Context(), c, response)
		}
		if response == nil {
			return err
		}
		if o.asList {
			return cmp.Or(r.showAll([]json.RawMessage{response}), err)
		}
		return cmp.Or(r.show(response, o), err)
	})
}

// run returns a command that makes the request of an operation and passes it to send.
func (r resource) run(o operation, send func(*cobra.Command, []string, *client.Client, fields) error) *cobra.Command {
	if o.takes == nil && strings.Contains(o.use, " ") {
		o.takes = []string{"the " + r.noun}
	}
	var given func() (fields, error)
	cmd := &cobra.Command{
		Use: o.use, Short: o.short, Long: o.long, Example: o.example, Args: takes(o.takes...),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags, err := given()
			body := fields{}
			maps.Copy(body, o.usual)
			maps.Copy(body, flags)
			if err == nil {
				err = r.complete(cmd, args, body, o.prepare)
			}
			if err != nil {
				return err
			}
			c, err := r.g.connect()
			if err != nil {
				return err
			}
			return nameFlags(cmd, o.flags, send(cmd, args, c, body))
		},
	}
	if r.ofOperator() {
		cmd.Annotations = map[string]string{connection: operatorOnly}
	}
	given = addFlags(cmd, o.flags)
	if name, _, _ := strings.Cut(o.use, " "); name == "get" || name == "list" {
		r.g.watchable(cmd)
	}
	if r.scope != nil {
		return r.scope(cmd)
	}
	return cmd
}

// show prints a response.
func (r resource) show(response any, o operation) error {
	v, err := convert[record](response)
	if err != nil {
		return err
	}
	if r.derive != nil {
		r.derive(v)
	}
	return r.g.show(response, func(w io.Writer) {
		if o.done != "" {
			row(w, strings.NewReplacer("{id}", v.id(), "{org}", r.g.orgFlag()).Replace(o.done))
			return
		}
		v.print(w, cmp.Or(o.fields, r.fields))
		if r.below != nil {
			r.below(w, v)
		}
		if o.note != "" {
			say(w, "\n%s\n", o.note)
		}
	})
}

// ofOperator reports whether only an operator's key may use the resource.
func (r resource) ofOperator() bool { return strings.HasPrefix(r.path, "/v1/admin/") }

// complete adds the owner to a request, and the additions of prepare.
func (r resource) complete(cmd *cobra.Command, args []string, body fields, prepare func(*cobra.Command, []string, fields) error) error {
	if r.ofOperator() {
		if err := r.g.ofOperator(r.plural); err != nil {
			return err
		}
	}
	if r.owned && r.g.org != "" {
		body["organizationId"] = r.g.org
	}
	if prepare != nil {
		return prepare(cmd, args, body)
	}
	return nil
}

// at returns the path of an operation. The last argument names the object.
func (r resource) at(operation string, args []string) string {
	if len(args) > 0 {
		operation = strings.ReplaceAll(operation, "{id}", url.PathEscape(args[len(args)-1]))
	}
	return r.path + "/" + operation
}

// list returns the command that lists all pages.
func (r resource) list(short, example string, flags ...bodyFlag) *cobra.Command {
	return r.listOf(operation{use: "list", short: short, example: example, flags: flags})
}

// listOf returns a list command with more options than flags.
func (r resource) listOf(o operation) *cobra.Command {
	r.g.lists[r.noun] = r
	return r.run(o, func(cmd *cobra.Command, _ []string, c *client.Client, body fields) error {
		most, _ := body["limit"].(int)
		items, err := all[json.RawMessage](cmd.Context(), c, r, body)
		if err != nil {
			return err
		}
		if most > 0 && len(items) == most && !given(cmd, "limit") && !given(cmd, "watch") {
			say(r.g.err, "the list ends after %d %s: name another number with --limit\n", most, r.plural)
		}
		return r.showAll(items)
	})
}

// showAll prints items as JSON if selected, otherwise as a table. The columns of more are
// shown with -o wide only.
func (r resource) showAll(items any) error {
	records, err := convert[[]record](items)
	if err != nil {
		return err
	}
	return r.g.show(items, func(w io.Writer) {
		if len(records) == 0 {
			say(w, "There are no %s.\n", r.plural)
			return
		}
		for _, item := range records {
			if r.derive != nil {
				r.derive(item)
			}
		}
		columns := r.columns
		if r.g.output == outputWide {
			columns += ", " + r.more
		}
		printTable(w, records, columns)
	})
}

// all reads the pages of a list. A limit in the request bounds the total number of
// objects; 0 reads all.
func all[T any](ctx context.Context, c *client.Client, r resource, body fields) ([]T, error) {
	most, bounded := body["limit"].(int)
	read := 0
	return client.All(ctx, func(ctx context.Context, p client.Page) ([]T, string, error) {
		if !r.unpaged {
			body["limit"] = p.Limit
		}
		if bounded && most > 0 {
			body["limit"] = min(p.Limit, most-read)
		}
		if p.After != "" {
			body["after"] = p.After
		}
		items, next, err := client.List[T](ctx, c, r.at("list", nil), body)
		if read += len(items); bounded && most > 0 && read >= most {
			next = ""
		}
		return items, next, err
	})
}

// get returns the command that shows one object in full.
func (r resource) get(short, example string) *cobra.Command {
	return r.command(operation{use: "get " + strings.ToUpper(r.noun), short: short, example: example})
}

// remove returns the command that deletes one object.
func (r resource) remove(short, example string) *cobra.Command {
	return r.command(operation{use: "delete " + strings.ToUpper(r.noun), short: short, example: example, done: "{id} is deleted."})
}
