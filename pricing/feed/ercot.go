package feed

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/internal/plain"
)

// ercotAdapter reads settlement point prices of ERCOT. Source: "ERCOT Public API
// Registration and Authentication", https://developer.ercot.com: the token request with the
// public client, the key in the header Ocp-Apim-Subscription-Key, and paging by page and
// _meta.totalPages; and the products NP4-190-CD (day-ahead) and NP6-905-CD (real-time) at
// https://www.ercot.com/mp/data-products: prices in $/MWh, local dates and hours, DSTFlag.
// Without a secret the address is a file of such a product, CSV or zip.
var ercotAdapter = Adapter{
	Name: "ercot", Title: "ERCOT: settlement point prices",
	Doc: "https://developer.ercot.com", URL: "https://api.ercot.com/api/public-reports",
	Every: time.Hour, Timezone: "America/Chicago",
	Parameters: []Parameter{
		{Name: "node", Doc: "name of the settlement point", Example: "LZ_HOUSTON", Required: true}, marketParameter,
		{Name: "tokenUrl", Doc: "address of the token service, if it is not ERCOT's"},
	},
	Secret:   "user name, password and subscription key with colons between them",
	Requests: ercotRequests, Read: readERCOT,
}

const (
	ercotTokenURL = "https://ercotb2c.b2clogin.com/ercotb2c.onmicrosoft.com/B2C_1_PUBAPI-ROPC-FLOW/oauth2/v2.0/token" //nolint:gosec // an address, no credentials
	ercotClient   = "fec253ea-0d06-4272-a5e6-b478baeecd70"                                                            // the same for all users
	ercotRows     = "5000"
)

func ercotRequests(q *Query) ([]Request, error) {
	if q.Secret == "" {
		return []Request{{URL: q.URL}}, nil
	}
	user, password, _ := strings.Cut(q.Secret, ":")
	password = strings.TrimSuffix(password, ":"+ercotKey(q))
	return []Request{tokenRequest(cmp.Or(q.Parameters["tokenUrl"], ercotTokenURL), url.Values{
		"grant_type": {"password"}, "username": {user}, "password": {password}, "response_type": {"id_token"},
		"scope": {"openid " + ercotClient + " offline_access"}, "client_id": {ercotClient},
	}, "id_token", q.in(central).ercotPage)}, nil
}

func readERCOT(q *Query, r *Response) (Data, error) {
	q = q.in(central)
	t, next := ercotTable(r)
	for _, r := range t.rows {
		r["settlementpoint"] = cmp.Or(r["settlementpoint"], r["settlementpointname"])
	}
	// Central days are not the source's days. So a page may have hours beside the span only.
	days := *q
	days.From, days.To = q.From.AddDate(0, 0, -1), q.To.AddDate(0, 0, 1)
	data, err := days.read(t, columns{node: "settlementpoint", kind: q.kind(), step: byMarket(q, time.Hour, 15*time.Minute)})
	for i, p := range data.Prices {
		data.Prices[i].Points = slices.DeleteFunc(p.Points, q.outside)
	}
	data.Prices = slices.DeleteFunc(data.Prices, func(p Prices) bool { return len(p.Points) == 0 })
	data.Next = next
	return data, err
}

// ercotKey returns the subscription key, the last part of the secret.
func ercotKey(q *Query) string { return q.Secret[strings.LastIndex(q.Secret, ":")+1:] }

// ercotPage asks for the first page.
func (q *Query) ercotPage(token string) Request {
	report := byMarket(q, "/np4-190-cd/dam_stlmnt_pnt_prices", "/np6-905-cd/spp_node_zone_hub")
	header := bearer(token)
	header.Set("Ocp-Apim-Subscription-Key", ercotKey(q))
	from, last := q.From.In(q.Location), q.To.Add(-time.Second).In(q.Location)
	return Request{
		URL: q.address(report, "deliveryDateFrom", from.Format(time.DateOnly), "deliveryDateTo", last.Format(time.DateOnly),
			"settlementPoint", q.Parameters["node"], "size", ercotRows, "page", "1"),
		Header: header,
	}
}

// ercotTable returns the rows of a page or a file, and the request of the next page.
func ercotTable(r *Response) (t table, next []Request) {
	body := r.Body
	if bytes.HasPrefix(body, []byte("PK")) {
		if body, t.err = unzip(body); t.err != nil {
			return t, nil
		}
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return csvTable(body, "dstflag"), nil
	}
	var page struct {
		Meta   struct{ CurrentPage, TotalPages int } `json:"_meta"`
		Fields []struct{ Name string }
		Data   [][]any
	}
	if t.err = decode(body, &page); t.err != nil {
		return t, nil
	}
	if len(page.Fields) == 0 {
		return noTable("has no fields, it begins with %q", beginning(body)), nil
	}
	for i, values := range page.Data {
		if len(values) != len(page.Fields) {
			return noTable("row %d has %d values for %d fields", i+1, len(values), len(page.Fields)), nil
		}
		one := row{}
		for j, field := range page.Fields {
			one[plain.Name(field.Name)] = strings.TrimSpace(fmt.Sprint(values[j]))
		}
		t.rows = append(t.rows, one)
	}
	if page.Meta.CurrentPage < page.Meta.TotalPages && len(t.rows) > 0 {
		next = []Request{r.Request.advance("page", 1)}
	}
	return t, next
}
