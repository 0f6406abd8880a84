// Package peer identifies the process at the other end of a Unix socket, and turns away everybody but root.
package peer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/credentials"
)

// Mode of sockets: their owner and group may connect, and of these only root is heard.
const Mode = 0o660

// Check returns an error unless the process at the other end runs as root, or as the user that this process does.
func Check(connection net.Conn) error {
	raw, ok := connection.(syscall.Conn)
	if !ok {
		return fmt.Errorf("get peer credentials: %T has no socket", connection)
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return fmt.Errorf("get peer credentials: %w", err)
	}
	var found *unix.Ucred
	var problem error
	if err := control.Control(func(socket uintptr) {
		found, problem = unix.GetsockoptUcred(int(socket), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return fmt.Errorf("get peer credentials: %w", err)
	}
	if problem != nil {
		return fmt.Errorf("get peer credentials: %w", problem)
	}
	if found.Uid != 0 && int64(found.Uid) != int64(os.Geteuid()) {
		return fmt.Errorf("peer with UID %d, PID %d is not root", found.Uid, found.Pid)
	}
	return nil
}

// Listen listens on a Unix socket of Mode. A socket that a process left behind is replaced; one on which somebody listens, or a
// file of another kind, is not.
func Listen(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("listen on %q: %w", path, err)
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("listen on %q: the file exists and is not a socket", path)
	default:
		if err := removeLeft(path); err != nil {
			return nil, fmt.Errorf("listen on %q: %w", path, err)
		}
	}
	listener, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", path, err)
	}
	return listener, nil
}

// removeLeft removes a socket on which no process listens. One that does not respond because its queue is full has a process.
func removeLeft(path string) error {
	connection, err := net.Dial("unix", path)
	switch {
	case err == nil:
		_ = connection.Close() // it was only to see
		return errors.New("another process listens on it")
	case errors.Is(err, fs.ErrNotExist):
		return nil // it went since
	case !errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("check whether another process listens on it: %w", err)
	}
	return os.Remove(path)
}

// listen makes the socket. Check refuses clients that connect before it has its mode.
func listen(path string) (net.Listener, error) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, Mode); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// Credentials of a gRPC server that turns away whom Check does. Nothing is encrypted.
func Credentials() credentials.TransportCredentials { return transport{} }

type transport struct{}

// info says that a connection was checked.
type info struct{ credentials.CommonAuthInfo }

// AuthType implements credentials.AuthInfo.
func (info) AuthType() string { return "peer" }

// ServerHandshake implements credentials.TransportCredentials.
func (transport) ServerHandshake(connection net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if err := Check(connection); err != nil {
		return nil, nil, fmt.Errorf("reject a connection: %w", err)
	}
	return connection, info{credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}}, nil
}

// ClientHandshake implements credentials.TransportCredentials.
func (transport) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("connect: these credentials are for servers only")
}

// Info implements credentials.TransportCredentials.
func (transport) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "peer"}
}

// Clone implements credentials.TransportCredentials.
func (t transport) Clone() credentials.TransportCredentials { return t }

// OverrideServerName implements credentials.TransportCredentials.
func (transport) OverrideServerName(string) error { return nil }
