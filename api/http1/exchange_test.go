package http1

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// A handler that waits by the request's context hears that the client has left.
func TestContextEndsWithTheClient(t *testing.T) {
	waits, heard := make(chan struct{}), make(chan error, 1)
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		defer cancel()
		done := ctx.Done()
		close(waits)
		<-done
		heard <- r.Context().Err()
	})
	a := s.dial(t)
	a.send(post("/", "{}"))
	<-waits
	_ = a.Close()
	if err := <-heard; !errors.Is(err, context.Canceled) {
		t.Errorf("it heard %v", err)
	}
}

// It ends with the answer too, for whoever still waits by it, and each request has its own.
func TestContextEndsWithTheAnswer(t *testing.T) {
	var waited []context.Context
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if ctx.Err() != nil {
			t.Errorf("a request begins with %v", ctx.Err())
		}
		for _, before := range waited {
			if before.Err() == nil {
				t.Error("an answered request goes on")
			}
		}
		waited = append(waited, ctx)
		_, _ = io.WriteString(w, "x")
	})
	a := s.dial(t)
	for range 3 {
		a.send(post("/", "{}"))
		a.answer()
	}
	if s.rest.Load() > 0 {
		t.Error("net/http has the connection")
	}
}

// A request of which nobody asks for the context leaves the next one its own.
func TestContextBeginsAgain(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/asks" && r.Context().Err() != nil {
			t.Errorf("it begins with %v", r.Context().Err())
		}
	})
	a := s.dial(t)
	for _, path := range []string{"/", "/asks", "/", "/", "/asks"} {
		a.send(post(path, "{}"))
		a.answer()
	}
}

// A request that comes while another waits by its context is the next one, and no reason
// to give that up.
func TestContextOutlivesTheNextRequest(t *testing.T) {
	waits, goOn := make(chan (<-chan struct{}), 9), make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		waits <- r.Context().Done()
		if r.URL.Path == "/first" {
			<-goOn
		}
		if err := r.Context().Err(); err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		w.Header().Set("X-Path", r.URL.Path)
	})
	a := s.dial(t)
	a.send(post("/first", "{}"))
	<-waits
	a.send(post("/second", "{}") + post("/third", "{}"))
	close(goOn)
	for _, want := range []string{"/first", "/second", "/third"} {
		if r, _ := a.answer(); r.Header.Get("X-Path") != want {
			t.Errorf("%s is answered, want %s", r.Header.Get("X-Path"), want)
		}
	}
	if s.rest.Load() > 0 {
		t.Error("net/http has the connection")
	}
}

// What old clients send after a body is no request, even if it comes while somebody waits.
func TestContextOutlivesALine(t *testing.T) {
	waits, goOn := make(chan struct{}, 9), make(chan struct{}, 9)
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_ = r.Context().Done()
		waits <- struct{}{}
		<-goOn
	})
	a := s.dial(t)
	for range 3 {
		a.send(post("/", "{}"))
		<-waits
		a.send("\r\n")
		goOn <- struct{}{}
		if r, _ := a.answer(); r.StatusCode != http.StatusOK {
			t.Errorf("answered %s", r.Status)
		}
	}
	if s.rest.Load() > 0 {
		t.Error("net/http has the connection")
	}
}

// Who asks for the context of a request that is answered finds it over.
func TestContextIsOverForStragglers(t *testing.T) {
	kept := make(chan context.Context, 9)
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { kept <- r.Context() })
	a := s.dial(t)
	a.send(post("/", "{}"))
	a.answer()
	old := <-kept
	<-old.Done()
	if !errors.Is(old.Err(), context.Canceled) {
		t.Errorf("it is %v", old.Err())
	}
	a.send(post("/", "{}")) // nothing reads beside the connection
	a.answer()
	if next := <-kept; next == old {
		t.Error("a context that somebody holds is used again")
	}
}

// The context tells what net/http's tells.
func TestContextValues(t *testing.T) {
	type key struct{}
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		for range 2 {
			server, _ := ctx.Value(http.ServerContextKey).(*http.Server)
			local, _ := ctx.Value(http.LocalAddrContextKey).(net.Addr)
			if _, limited := ctx.Deadline(); server == nil || local == nil || ctx.Value(key{}) != nil || limited {
				t.Errorf("it has %v %v", server, local)
			}
			_ = ctx.Done() // the second time somebody waits
		}
		derived, cancel := context.WithCancel(context.WithValue(ctx, key{}, "x"))
		defer cancel()
		if derived.Value(key{}) != "x" {
			t.Error("values are lost")
		}
	})
	a := s.dial(t)
	a.send(post("/", "{}"))
	a.answer()
}

// Of a body there is what came, once.
func TestBodies(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/closed" {
			_ = r.Body.Close()
		}
		var half [2]byte
		n, _ := r.Body.Read(half[:])
		rest, err := io.ReadAll(r.Body)
		if more, _ := io.ReadAll(r.Body); err != nil || len(more) > 0 {
			t.Errorf("after its end it has %q, %v", more, err)
		}
		_, _ = w.Write(append(half[:n], rest...))
	})
	a := s.dial(t)
	for path, want := range map[string]string{"/": "whole", "/closed": ""} {
		a.send(post(path, "whole"))
		if _, got := a.answer(); got != want {
			t.Errorf("%s: the body is %q, want %q", path, got, want)
		}
	}
	a.send(post("/", ""))
	if _, got := a.answer(); got != "" {
		t.Errorf("no body is %q", got)
	}
}
