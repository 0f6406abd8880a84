package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"koordinator.sh/koord/sandbox/state"
)

// Namespace the system is installed in.
const Namespace = "koordinator-system"

// Bundle are all certificates of a sandbox.
type Bundle struct {
	// CAFile signs clients and servers of the cluster.
	CAFile string
	// EtcdCAFile signs etcd and its only client.
	EtcdCAFile string
	// FrontProxyCAFile signs the aggregation layer's client.
	FrontProxyCAFile string
	// ServiceAccountKeyFile signs service account tokens.
	ServiceAccountKeyFile string

	APIServer  Pair
	EtcdServer Pair
	EtcdClient Pair
	FrontProxy Pair
	// AdmissionFile configures the API server's admission: it shows the front proxy's certificate to webhooks, as to aggregated API servers.
	AdmissionFile string
	// AuthorizationFile configures the API server's authorization: koordlet reads of its node alone.
	AuthorizationFile string
	Manager           Pair

	clients map[string]Pair
}

// clients are the cluster's users: the components with the names Kubernetes and the chart give them, so that the
// sandbox proves the roles a real cluster gets.
var clients = []Identity{
	{File: "admin", User: "koord-sandbox-admin", Groups: []string{"system:masters"}},
	{File: "kube-controller-manager", User: "system:kube-controller-manager"},
	{File: "kube-scheduler", User: "system:kube-scheduler"},
	{File: "kwok", User: "koord-sandbox-kwok"},
	serviceAccount("koord-scheduler"),
	serviceAccount("koord-manager"),
	serviceAccount("koord-descheduler"),
	serviceAccount("koordlet", simulatedGroup),
}

func serviceAccount(name string, groups ...string) Identity {
	return Identity{
		File:   name,
		User:   "system:serviceaccount:" + Namespace + ":" + name,
		Groups: append([]string{"system:serviceaccounts", "system:serviceaccounts:" + Namespace}, groups...),
	}
}

// loopback are the hosts every server of the sandbox answers for.
var loopback = []string{"localhost", "127.0.0.1", "::1"}

// Ensure makes what is missing in the sandbox's directory and returns where everything is.
func Ensure(dir state.Dir, now func() time.Time) (*Bundle, error) {
	bundle := &Bundle{clients: map[string]Pair{}}
	for _, step := range []func(state.Dir, func() time.Time) error{
		bundle.ensureCluster, bundle.ensureEtcd, bundle.ensureFrontProxy, bundle.ensureAdmission, bundle.ensureAuthorization,
		bundle.ensureServiceAccountKey,
	} {
		if err := step(dir, now); err != nil {
			return nil, err
		}
	}
	return bundle, nil
}

// Client returns the certificate of one of the cluster's users.
func (b *Bundle) Client(name string) Pair { return b.clients[name] }

func (b *Bundle) ensureCluster(dir state.Dir, now func() time.Time) error {
	ca, err := OpenAuthority(dir.PKI(), "ca", now)
	if err != nil {
		return err
	}
	b.CAFile = ca.CertFile()
	apiServerHosts := append([]string{
		"10.96.0.1", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}, loopback...)
	if b.APIServer, err = ca.Issue(Identity{File: "apiserver", User: "kube-apiserver", Hosts: apiServerHosts}); err != nil {
		return err
	}
	if b.Manager, err = ca.Issue(Identity{File: "kube-controller-manager-serving", User: "kube-controller-manager", Hosts: loopback}); err != nil {
		return err
	}
	for _, client := range clients {
		if b.clients[client.File], err = ca.Issue(client); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bundle) ensureEtcd(dir state.Dir, now func() time.Time) error {
	ca, err := OpenAuthority(dir.PKI(), "etcd-ca", now)
	if err != nil {
		return err
	}
	b.EtcdCAFile = ca.CertFile()
	if b.EtcdServer, err = ca.Issue(Identity{File: "etcd", User: "etcd", Hosts: loopback}); err != nil {
		return err
	}
	b.EtcdClient, err = ca.Issue(Identity{File: "etcd-client", User: "kube-apiserver"})
	return err
}

func (b *Bundle) ensureFrontProxy(dir state.Dir, now func() time.Time) error {
	ca, err := OpenAuthority(dir.PKI(), "front-proxy-ca", now)
	if err != nil {
		return err
	}
	b.FrontProxyCAFile = ca.CertFile()
	b.FrontProxy, err = ca.Issue(Identity{File: "front-proxy", User: "front-proxy-client"})
	return err
}

func (b *Bundle) ensureServiceAccountKey(dir state.Dir, _ func() time.Time) error {
	b.ServiceAccountKeyFile = filepath.Join(dir.PKI(), "service-account.key")
	der, err := readPEM(b.ServiceAccountKeyFile)
	if err == nil {
		_, err = x509.ParseECPrivateKey(der)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the service account key: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate the service account key: %w", err)
	}
	if der, err = x509.MarshalECPrivateKey(key); err != nil {
		return fmt.Errorf("encode the service account key: %w", err)
	}
	return state.WriteFile(b.ServiceAccountKeyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}
