package wire

// Page is one page of a list.
type Page[T any] struct {
	Data []T `json:"data"`
	// Next is the value of after for the next page. It is null on the last page.
	Next *string `json:"next"`
}

// List is a list without pages.
type List[T any] struct {
	Data []T `json:"data"`
}

// Deleted identifies the deleted resource.
type Deleted struct {
	ID      string `json:"id" example:"home_1"`
	Deleted bool   `json:"deleted" example:"true"`
}
