package client

import (
	"context"
	"net/url"
	"strings"

	"github.com/gridhook/gridhook/api/wire"
)

// Page selects a page of a list.
type Page = wire.PageInput

// List requests one page of a list by its path.
func List[T any](ctx context.Context, c *Client, path string, in any) (items []T, next string, err error) {
	out, err := Call[struct {
		Data []T    `json:"data"`
		Next string `json:"next"` // null on the last page, which decodes as empty
	}](ctx, c, path, in)
	return out.Data, out.Next, err
}

// longestPage is the maximum number of items on a page.
const longestPage = 1000

// All reads all pages of a list.
func All[T any](ctx context.Context, list func(context.Context, Page) (items []T, next string, err error)) ([]T, error) {
	all := []T{}
	for page := (Page{Limit: longestPage}); ; {
		items, next, err := list(ctx, page)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == "" {
			return all, nil
		}
		page.After = next
	}
}

// nothing is the body of operations without input.
var nothing = struct{}{}

// at returns the path of an operation on an object.
func at(path, id string) string { return strings.Replace(path, "{id}", url.PathEscape(id), 1) }

// ofOrganization requests a page of an organization's resources.
type ofOrganization struct {
	OrganizationID string `json:"organizationId,omitempty"`
	Page
}
