package client

import "context"

// Page asks for a part of a list.
type Page struct {
	// Limit is the most items wanted, 0 for the server's choice.
	Limit int `json:"limit,omitempty"`
	// After is the cursor of the page before, empty for the first.
	After string `json:"after,omitempty"`
}

// list asks for one page.
func list[T any](ctx context.Context, c *Client, path string, in any) (items []T, next string, err error) {
	out, err := call[struct {
		Data []T    `json:"data"`
		Next string `json:"next"` // null on the last page, which leaves it empty
	}](ctx, c, path, in)
	return out.Data, out.Next, err
}

// longestPage is the most that a server puts on one page.
const longestPage = 1000

// All reads a list to its end, page after page.
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
