package main

import (
	"net"
	"sync"
)

// proxy is the connection between one Gridhook and one nats-server. It can close
// connections or stop passing data while they stay open.
type proxy struct {
	listener net.Listener
	target   string
	done     sync.WaitGroup

	mu      sync.Mutex
	flowing *sync.Cond
	state   line
	conns   map[net.Conn]bool
	closed  bool
}

// line is the state of a proxy.
type line int

const (
	lineUp line = iota
	// lineCut closes existing and new connections.
	lineCut
	// lineDead keeps connections open and passes no data.
	lineDead
	// lineMute passes no data from the server; data to the server arrives.
	lineMute
)

func newProxy(target string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, target: target, conns: map[net.Conn]bool{}}
	p.flowing = sync.NewCond(&p.mu)
	p.done.Go(p.accept)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.set(lineCut)
	p.done.Wait()
}

// set changes the line's state.
func (p *proxy) set(s line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = s
	if s == lineCut {
		for c := range p.conns {
			_ = c.Close()
		}
	}
	p.flowing.Broadcast()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target) //nolint:noctx // on the loopback
		if err != nil || !p.take(client, server) {
			_ = client.Close()
			if server != nil {
				_ = server.Close()
			}
			continue
		}
		p.done.Go(func() { p.copy(server, client, lineDead, lineDead) })
		p.done.Go(func() { p.copy(client, server, lineDead, lineMute) })
	}
}

// take stores a connection's two ends unless the line is cut.
func (p *proxy) take(ends ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == lineCut || p.closed {
		return false
	}
	for _, c := range ends {
		p.conns[c] = true
	}
	return true
}

// copy copies one direction. It stops in two of the states.
func (p *proxy) copy(to, from net.Conn, still, alsoStill line) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		for (p.state == still || p.state == alsoStill) && !p.closed {
			p.flowing.Wait()
		}
		p.mu.Unlock()
		if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
			break
		}
	}
	p.mu.Lock()
	delete(p.conns, to)
	delete(p.conns, from)
	p.mu.Unlock()
	_, _ = to.Close(), from.Close()
}
