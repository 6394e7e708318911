package openadr

import (
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// tokenLife is the lifetime of an access token.
const tokenLife = time.Hour

// tokenPrefix is the prefix of an access token. The rest of the token is sealed: the
// key's identifier and the expiry time. The token is not stored. Any process can open it.
const tokenPrefix = "ghat_"

// sealedFor is the purpose for which the vault seals tokens.
const sealedFor = "openadr-token"

var errToken = &rest.Problem{
	Status: http.StatusUnauthorized, Message: "The access token is missing, not valid, or has ended.",
	Recovery: "Ask for a token at auth/token, and send it as Authorization: Bearer.",
}

// authenticate returns the caller of a bearer token. Revoking a key invalidates its
// tokens.
func (s *server) authenticate(r *http.Request, c *rest.Call) (caller, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return caller{}, errToken
	}
	key, _, err := s.openToken(strings.TrimSpace(text), c.Now)
	switch {
	case err != nil:
		return caller{}, err
	case key == nil:
		return caller{}, errToken
	}
	c.Caller = rest.Caller{KeyID: key.ID, Key: key, Org: key.OrganizationID}
	return caller{key, key.Allows(storage.ScopeBusiness)}, nil
}

// openToken returns the key of an access token and the token's end. It returns no key if
// the token or its key is not valid.
func (s *server) openToken(text string, now time.Time) (key *storage.Key, end time.Time, err error) {
	sealed, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok {
		return nil, end, nil
	}
	opened, _ := s.Vault.Open(storage.Shared, sealedFor, sealed) // what does not open has no end
	id, until, _ := strings.Cut(opened, " ")
	seconds, _ := strconv.ParseInt(until, 10, 64)
	if now.Unix() >= seconds {
		return nil, end, nil
	}
	key, err = s.REST.UseKey(id, now)
	return key, time.Unix(seconds, 0), err
}

// OAuth scopes of the roles, as the document names them.
const (
	businessScopes = "read_all read_bl write_programs write_events write_subscriptions write_vens"
	venScopes      = "read_targets read_ven_objects write_reports write_subscriptions write_vens"
)

// grant is the response to a token request.
type grant struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
}

func refused(status int, code, message string) error {
	return &oauthError{code, &rest.Problem{Status: status, Message: message}}
}

// token returns an access token for client credentials. The credentials are the
// identifier of an API key and the key. The client sends them in the body or in the basic
// authentication header.
func (s *server) token(r *request) (any, error) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return nil, refused(http.StatusBadRequest, "invalid_request", "The body must be application/x-www-form-urlencoded.")
	}
	r.Request.Body = http.MaxBytesReader(nil, r.Request.Body, 16<<10)
	if err := r.ParseForm(); err != nil {
		return nil, refused(http.StatusBadRequest, "invalid_request", "The body cannot be read.")
	}
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, ok := r.BasicAuth(); ok {
		id, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(password)
	}
	switch grantType := r.PostForm.Get("grant_type"); {
	case grantType == "" || id == "" || secret == "":
		return nil, refused(http.StatusBadRequest, "invalid_request", "grant_type, client_id and client_secret are required.")
	case grantType != "client_credentials":
		return nil, refused(http.StatusBadRequest, "unsupported_grant_type", "grant_type must be client_credentials.")
	}
	key, err := s.REST.SecretKey(id, secret, r.Now)
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, refused(http.StatusUnauthorized, "invalid_client", "The client credentials are not valid.")
	}
	scope := ""
	switch {
	case key.Allows(storage.ScopeBusiness):
		scope = businessScopes
	case key.Allows(storage.ScopeVEN):
		scope = venScopes
	}
	end := strconv.FormatInt(r.Now.Add(tokenLife).Unix(), 10)
	return grant{
		AccessToken: tokenPrefix + s.Vault.Seal(storage.Shared, sealedFor, key.ID+" "+end), TokenType: "Bearer",
		ExpiresIn: int(tokenLife / time.Second), Scope: scope,
	}, nil
}

// authServer returns the URL of the token operation, which is a sibling of the requested
// path.
func (s *server) authServer(r *request) (any, error) {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	at := url.URL{Scheme: scheme, Host: r.Host, Path: strings.TrimSuffix(r.URL.Path, "server") + "token"}
	return map[string]string{"tokenURL": at.String()}, nil
}
