package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/api/wire"
)

// resource is a kind of object on a server. It defines the operations' path and the
// display, and from these all of the kind's commands.
type resource[T any] struct {
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
	// columns are the list's header. more are the columns that -o wide adds. cells
	// returns one row, with the cells of more at the end.
	columns, more []any
	cells         func(T) []any
	// show prints one object in full.
	show func(io.Writer, T)
}

// operation is a command that sends one request and shows its response.
type operation[T any] struct {
	// use names the command and its object, if any. "get HOME" is the operation get of
	// one home, "create" an operation of the resource.
	use, short, long, example string
	// path is the operation's path, with {id} for the object. Empty derives the path from
	// use.
	path string
	// takes names the arguments in errors. The default is the noun if use has an object.
	takes []string
	flags []bodyFlag
	// prepare completes or checks the request. after processes the response further. Both
	// may be nil.
	prepare func(cmd *cobra.Command, args []string, body fields) error
	after   func(ctx context.Context, c *client.Client, v T) error
	show    func(io.Writer, T) // by default the resource's
}

// command returns the command of an operation. The operation update must change a field.
func (r resource[T]) command(o operation[T]) *cobra.Command {
	name, about, _ := strings.Cut(o.use, " ")
	if o.path == "" {
		o.path = strings.ReplaceAll(name, "-", "_")
		if about != "" {
			o.path = "{id}/" + o.path
		}
	}
	if o.takes == nil && about != "" {
		o.takes = []string{"the " + r.noun}
	}
	if o.show == nil {
		o.show = r.show
	}
	cmd := &cobra.Command{
		Use: o.use, Short: o.short, Long: o.long, Example: o.example, Args: takes(o.takes...),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := r.body(cmd, args, o.flags, o.prepare)
			if err != nil {
				return err
			}
			if name == "update" && len(body) == 0 {
				return usagef("say with a flag what to change")
			}
			return call(r.g, o.show, func(c *client.Client) (T, error) {
				v, err := client.Call[T](cmd.Context(), c, r.at(o.path, args), body)
				if err == nil && o.after != nil {
					err = o.after(cmd.Context(), c, v)
				}
				return v, err
			})
		},
	}
	addFlags(cmd, o.flags)
	if len(o.takes) == 1 && strings.Contains(o.path, "{id}") {
		cmd.ValidArgsFunction = r.completeID
	}
	return r.scoped(cmd)
}

// body returns the request of an operation: the flags' values, the owner, and the
// additions of prepare.
func (r resource[T]) body(cmd *cobra.Command, args []string, flags []bodyFlag, prepare func(*cobra.Command, []string, fields) error) (fields, error) {
	if r.g.isPartner() && strings.HasPrefix(r.path, "/v1/admin/") {
		return nil, usagef("%s are the operator's: a partner's key cannot ask for them; leave out --api-url", r.plural)
	}
	body, err := requestOf(cmd, flags)
	if err != nil {
		return nil, err
	}
	if r.owned && r.g.org != "" {
		body["organizationId"] = r.g.org
	}
	if prepare != nil {
		err = prepare(cmd, args, body)
	}
	return body, err
}

// at returns the path of an operation. The last argument names the object.
func (r resource[T]) at(operation string, args []string) string {
	if len(args) > 0 {
		operation = strings.ReplaceAll(operation, "{id}", url.PathEscape(args[len(args)-1]))
	}
	return r.path + "/" + operation
}

// list returns the command that lists all pages.
func (r resource[T]) list(short, example string, flags ...bodyFlag) *cobra.Command {
	return r.listOf(operation[T]{use: "list", short: short, example: example, flags: flags})
}

// listOf returns a list command with more options than flags.
func (r resource[T]) listOf(o operation[T]) *cobra.Command {
	cmd := &cobra.Command{
		Use: o.use, Short: o.short, Example: o.example, Args: takes(o.takes...),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := r.body(cmd, args, o.flags, o.prepare)
			if err != nil {
				return err
			}
			return r.callAll(func(c *client.Client) ([]T, error) { return r.all(cmd.Context(), c, body) })
		},
	}
	addFlags(cmd, o.flags)
	return r.scoped(cmd)
}

// all reads the pages of a list. A limit in the request bounds the total number of
// objects; 0 reads all.
func (r resource[T]) all(ctx context.Context, c *client.Client, body fields) ([]T, error) {
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
		page, err := client.Call[struct {
			Data []T    `json:"data"`
			Next string `json:"next"`
		}](ctx, c, r.path+"/list", body)
		if read += len(page.Data); bounded && most > 0 && read >= most {
			page.Next = ""
		}
		return page.Data, page.Next, err
	})
}

// get returns the command that shows one object in full.
func (r resource[T]) get(short, example string) *cobra.Command {
	return r.command(operation[T]{use: "get " + strings.ToUpper(r.noun), short: short, example: example})
}

// remove returns the command that deletes one object.
func (r resource[T]) remove(short, example string) *cobra.Command {
	return r.removeOf(operation[T]{use: "delete " + strings.ToUpper(r.noun), short: short, example: example, takes: []string{"the " + r.noun}})
}

func (r resource[T]) removeOf(o operation[T]) *cobra.Command {
	gone := resource[wire.Deleted]{g: r.g, noun: r.noun, plural: r.plural, path: r.path, owned: r.owned, scope: r.scope, show: showDeleted}
	cmd := gone.command(operation[wire.Deleted]{
		use: o.use, short: o.short, example: o.example, path: "{id}/delete", takes: o.takes, prepare: o.prepare,
		after: func(ctx context.Context, c *client.Client, _ wire.Deleted) error {
			if o.after == nil {
				return nil
			}
			var none T
			return o.after(ctx, c, none)
		},
	})
	cmd.ValidArgsFunction = r.completeID
	return cmd
}

// callAll requests several objects and shows them as a list.
func (r resource[T]) callAll(ask func(*client.Client) ([]T, error)) error {
	c, err := r.g.connect()
	if err != nil {
		return err
	}
	items, err := ask(c)
	if err != nil {
		return err
	}
	return showList(r.g, items, r.plural, r.columns, r.more, r.cells)
}

func (r resource[T]) scoped(cmd *cobra.Command) *cobra.Command {
	if r.scope == nil {
		return cmd
	}
	return r.scope(cmd)
}

// call sends a request and shows its response.
func call[T any](g *globals, show func(io.Writer, T), ask func(*client.Client) (T, error)) error {
	c, err := g.connect()
	if err != nil {
		return err
	}
	v, err := ask(c)
	if err != nil {
		return err
	}
	return g.show(v, func(w io.Writer) { show(w, v) })
}

func showDeleted(w io.Writer, d wire.Deleted) { row(w, fmt.Sprintf("%s is deleted.", d.ID)) }
