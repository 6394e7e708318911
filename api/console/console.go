package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Root is the path below which the console is served.
const Root = "/console/"

// Audience is whom a listener serves. The page asks for another key accordingly.
type Audience string

// The audiences.
const (
	Operator Audience = "operator"
	Partner  Audience = "partner"
)

//go:embed assets
var embedded embed.FS

// page is the one page, which loads everything else.
const page = "index.html"

// file is an asset as it is served.
type file struct {
	body                      []byte
	contentType, etag, caches string
}

// handler serves the files of the console by their paths.
type handler map[string]file

// Beside serves the console at Root and leaves every other path to next, as it
// was sent.
func Beside(next http.Handler, audience Audience) http.Handler {
	files, err := load(embedded, audience)
	if err != nil {
		panic("console: " + err.Error()) // the assets are part of the program, and a test loads them
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == strings.TrimSuffix(Root, "/") || strings.HasPrefix(r.URL.Path, Root) {
			files.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// The caching of the page, which names the other files by their contents, and of
// those, which never change under their names.
const (
	askAgain = "no-cache"
	forever  = "public, max-age=31536000, immutable"
)

// load reads the assets. All but the page are served below the digest of all of
// them, so that a page never meets the modules of another version.
func load(from fs.FS, audience Audience) (handler, error) {
	bodies := map[string][]byte{}
	digest := sha256.New()
	err := fs.WalkDir(from, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(from, name)
		name = strings.TrimPrefix(name, "assets/")
		bodies[name] = body
		_, _ = fmt.Fprintf(digest, "%s\n%d\n%s", name, len(body), body) // a hash takes everything
		return err
	})
	if err != nil {
		return nil, err
	}
	base := Root + hex.EncodeToString(digest.Sum(nil))[:16] + "/"
	files := handler{}
	for name, body := range bodies {
		at, caches := base+name, forever
		if name == page {
			at, caches = Root, askAgain
			body = bytes.ReplaceAll(body, []byte("{base}"), []byte(base))
			body = bytes.ReplaceAll(body, []byte("{audience}"), []byte(audience))
		}
		contentType := types[path.Ext(name)]
		if contentType == "" {
			return nil, fmt.Errorf("%s is of no known type", name)
		}
		sum := sha256.Sum256(body)
		files[at] = file{body, contentType, `"` + hex.EncodeToString(sum[:8]) + `"`, caches}
	}
	return files, nil
}

// types are the media types of the assets. They do not depend on the machine, as
// those of package mime do.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// policy lets the page load what this listener serves, and nothing else run or be
// fetched. Trusted types make the browser refuse text that would become markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// ServeHTTP serves one file.
func (files handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	secure(h)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "The console takes no other method than GET.")
		return
	}
	if r.URL.Path+"/" == Root {
		http.Redirect(w, r, Root, http.StatusMovedPermanently)
		return
	}
	f, ok := files[r.URL.Path]
	if !ok {
		refuse(w, http.StatusNotFound, "The console has no such file. Open "+Root+" instead.")
		return
	}
	h.Set("Cache-Control", f.caches)
	h.Set("ETag", f.etag)
	if matches(r.Header.Get("If-None-Match"), f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Length", strconv.Itoa(len(f.body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(f.body) // the caller may be gone
	}
}

// matches reports whether an If-None-Match names the tag. Weak tags count as
// strong ones: bytes are all that a file has.
func matches(given, etag string) bool {
	for tag := range strings.SplitSeq(given, ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag || tag == "*" {
			return true
		}
	}
	return false
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, status)
}
