package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Root is the path prefix of the console.
const Root = "/console/"

//go:embed assets
var embedded embed.FS

// page is the entry page. It loads all other files.
const page = "index.html"

// file is an asset with its response headers.
type file struct {
	body                      []byte
	contentType, etag, caches string
}

// handler serves the files of the console by their paths.
type handler struct {
	files map[string]file
	// frames are the origins of the pages that may show the console in a frame.
	frames []string
}

// WithConsole returns a handler that serves the console at Root. It passes every other request
// to next unchanged. The audience is operator or partner: the page asks them for different
// keys. The page shows the values of enums. Pages of the frames' origins may show the console
// in a frame, and no other page.
func WithConsole(next http.Handler, audience string, enums map[string][]string, frames ...string) http.Handler {
	loaded, err := load(embedded, audience, enums)
	if err != nil {
		panic("console: " + err.Error()) // the assets are embedded and a test loads them
	}
	files := handler{loaded, frames}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == strings.TrimSuffix(Root, "/") || strings.HasPrefix(r.URL.Path, Root) {
			files.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Cache policies. The page changes under one name and is revalidated. Every other file is
// immutable: its path contains a digest of the contents.
const (
	revalidate = "no-cache"
	immutable  = "public, max-age=31536000, immutable"
)

// load reads the assets. Every file except the page is served below the digest of all
// files. A page therefore never loads modules of another version.
func load(from fs.FS, audience string, enums map[string][]string) (map[string]file, error) {
	module := EnumsModule(enums)
	bodies := map[string][]byte{"lib/enums.js": module}
	digest := sha256.New()
	digest.Write(module)
	err := fs.WalkDir(from, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(from, name)
		name = strings.TrimPrefix(name, "assets/")
		bodies[name] = body
		_, _ = fmt.Fprintf(digest, "%s\n%d\n%s", name, len(body), body) // writing to a hash never fails
		return err
	})
	if err != nil {
		return nil, err
	}
	base := Root + hex.EncodeToString(digest.Sum(nil))[:16] + "/"
	files := map[string]file{}
	for name, body := range bodies {
		at, caches := base+name, immutable
		if name == page {
			at, caches = Root, revalidate
			body = bytes.ReplaceAll(body, []byte("{base}"), []byte(base))
			body = bytes.ReplaceAll(body, []byte("{audience}"), []byte(audience))
		}
		contentType := types[path.Ext(name)]
		if contentType == "" {
			return nil, fmt.Errorf("%s: unknown file type", name)
		}
		sum := sha256.Sum256(body)
		files[at] = file{body, contentType, `"` + hex.EncodeToString(sum[:8]) + `"`, caches}
	}
	return files, nil
}

// EnumsModule returns the JavaScript module with the values of the enumerations.
func EnumsModule(enums map[string][]string) []byte {
	values, _ := json.Marshal(enums) // strings always encode
	return fmt.Appendf(nil, "// The enumerations of the API.\nexport const enums = %s;\n", values)
}

// types maps file extensions to media types. Unlike package mime, it does not depend on
// the machine.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// policy is the content security policy of the page. The page may load files and call
// operations of this listener only. Trusted types make the browser refuse to turn text
// into markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors "

func secure(h http.Header, frames []string) {
	if len(frames) == 0 {
		h.Set("Content-Security-Policy", policy+"'none'")
		h.Set("X-Frame-Options", "DENY")
	} else {
		h.Set("Content-Security-Policy", policy+strings.Join(frames, " "))
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

func (c handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	secure(h, c.frames)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "The console takes no other method than GET.")
		return
	}
	if r.URL.Path+"/" == Root {
		http.Redirect(w, r, Root, http.StatusMovedPermanently)
		return
	}
	f, ok := c.files[r.URL.Path]
	if !ok {
		refuse(w, http.StatusNotFound, "The console has no such file. Open "+Root+" instead.")
		return
	}
	h.Set("Cache-Control", f.caches)
	h.Set("ETag", f.etag)
	h.Set("Content-Type", f.contentType)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body)) // handles 304 and HEAD
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, status)
}
