package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// DefaultAddr is where the endpoint listens: the port is C-L-E-F on a phone.
const DefaultAddr = "127.0.0.1:2533"

// Bounds on connections (endpoint.md 8). There is no write timeout: a long decision
// is not a fault, and the worker has its own deadline.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 60 * time.Second
	idleTimeout   = 120 * time.Second
	maxHeader     = 64 << 10
	maxConns      = 512
)

// Service is a Server on its port.
type Service struct {
	http *http.Server
	addr string
	done sync.WaitGroup
}

// Start listens on addr and serves h until Stop. A loopback address is bound in both
// IP versions where the system has them. An address that others can reach needs a
// key: without one Start refuses. A port that is taken is a *PortError.
func Start(addr string, h *Server) (*Service, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("the address %q has no port; write 127.0.0.1:2533", addr)
	}
	loopback := isLoopback(host)
	if !loopback && h.opt.Key == "" {
		return nil, fmt.Errorf("%s can be reached from other machines: set a key first, or listen on 127.0.0.1", addr)
	}
	listeners, err := listen(host, port, loopback)
	if err != nil {
		return nil, err
	}
	v := &Service{
		addr: listeners[0].Addr().String(),
		http: &http.Server{
			Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
			MaxHeaderBytes: maxHeader, DisableGeneralOptionsHandler: true,
			ErrorLog: log.New(io.Discard, "", 0), // it quotes requests
		},
	}
	places := make(chan struct{}, maxConns)
	for _, l := range listeners {
		v.done.Go(func() {
			if err := v.http.Serve(&listener{Listener: l, places: places}); !errors.Is(err, http.ErrServerClosed) {
				h.log.Error("listener", "error", err)
			}
		})
	}
	return v, nil
}

// Addr returns the address that is bound, with its real port.
func (v *Service) Addr() string { return v.addr }

// URL returns the address for clients.
func (v *Service) URL() string { return "http://" + v.addr }

// Stop takes no more connections, lets the requests that are there finish, and
// returns. When ctx ends it cuts them off.
func (v *Service) Stop(ctx context.Context) {
	if err := v.http.Shutdown(ctx); err != nil {
		_ = v.http.Close() // nothing to do about connections that will not close
	}
	v.done.Wait()
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// listen binds host:port. For 127.0.0.1 and localhost it also binds ::1 on the same
// port if it can: some programs resolve localhost to that first.
func listen(host, port string, loopback bool) ([]net.Listener, error) {
	if strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	addr := net.JoinHostPort(host, port)
	first, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, portTrouble(addr, err)
	}
	all := []net.Listener{first}
	if loopback && host == "127.0.0.1" {
		_, bound, _ := net.SplitHostPort(first.Addr().String()) // an address of the net package
		if second, err := net.Listen("tcp6", net.JoinHostPort("::1", bound)); err == nil {
			all = append(all, second)
		}
	}
	return all, nil
}
