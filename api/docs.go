package api

import (
	"bytes"
	_ "embed"
	"html/template"

	"github.com/gridhook/gridhook/api/rest"
)

// Assets of the documentation page, which uses Redoc. See reference/README.md.
var (
	//go:embed reference/index.html
	pageHTML string
	//go:embed reference/redoc.js.gz
	rendererGzip []byte

	docsPage = template.Must(template.New("page").Parse(pageHTML))
)

// pagePolicy is the content security policy of the documentation page. The page may run
// its renderer and read the OpenAPI document only.
const pagePolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; worker-src blob:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// pages returns the OpenAPI document of an audience and its documentation page.
func pages(a Audience) []rest.Page {
	text := func() []byte { return built(OpenAPI(a)) }
	html := func() []byte {
		var b bytes.Buffer
		err := docsPage.Execute(&b, (&document{audience: a}).title())
		return built(b.Bytes(), err)
	}
	return []rest.Page{
		{Path: "/openapi.json", Data: text, Header: map[string]string{"Content-Type": "application/json"}},
		{Path: "/docs", Data: html, Header: map[string]string{"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": pagePolicy}},
		{Path: "/docs/redoc.js", Data: func() []byte { return rendererGzip }, Header: map[string]string{"Content-Type": "text/javascript; charset=utf-8", "Content-Encoding": "gzip"}},
	}
}

// built returns a document. It panics for an error: a test builds each document.
func built(data []byte, err error) []byte {
	if err != nil {
		panic("api: " + err.Error())
	}
	return data
}
