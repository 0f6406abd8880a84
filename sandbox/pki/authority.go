// Package pki makes the sandbox's certificates and kubeconfigs. Files that exist and are still good are kept, so a
// kubeconfig handed out survives a restart.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"koordinator.sh/koord/sandbox/state"
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 365 * 24 * time.Hour
	// renewBefore is how long before its end a leaf is replaced at the next start.
	renewBefore = 30 * 24 * time.Hour
)

// Authority is a certificate authority whose key and certificate live in a directory.
type Authority struct {
	dir  string
	name string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  func() time.Time
}

// OpenAuthority reads the authority NAME.crt and NAME.key in dir, or makes it, also when it would end before a leaf does
// that it issues now. Files that are there and cannot be read are an error: replacing them would silently invalidate every
// kubeconfig handed out.
func OpenAuthority(dir, name string, now func() time.Time) (*Authority, error) {
	a := &Authority{dir: dir, name: name, now: now}
	cert, key, err := readPair(a.CertFile(), filepath.Join(dir, name+".key"))
	if err == nil && now().Add(leafLife).Before(cert.NotAfter) {
		a.cert, a.key = cert, key
		return a, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read certificate authority %q: %w", name, err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "koord-sandbox-" + name},
		NotBefore:             now().Add(-time.Hour),
		NotAfter:              now().Add(authorityLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate the key of certificate authority %q: %w", name, err)
	}
	a.cert, err = a.sign(template, template, &a.key.PublicKey)
	if err != nil {
		return nil, err
	}
	return a, writePair(a.CertFile(), filepath.Join(dir, name+".key"), a.cert, a.key)
}

// CertFile is the file of the authority's certificate.
func (a *Authority) CertFile() string { return filepath.Join(a.dir, a.name+".crt") }

// Identity is who a certificate is for.
type Identity struct {
	// File is the base name of the certificate's files.
	File string
	// User becomes the common name, which Kubernetes takes as the user's name.
	User string
	// Groups become the organisations, which Kubernetes takes as the user's groups.
	Groups []string
	// Hosts are the names and addresses a server answers for; none for a client.
	Hosts []string
}

// Pair are the files of a certificate and its key.
type Pair struct {
	CertFile string
	KeyFile  string
}

// Issue returns the certificate of an identity, making it when there is none for this very identity that is good for
// another month.
func (a *Authority) Issue(id Identity) (Pair, error) {
	pair := Pair{CertFile: filepath.Join(a.dir, id.File+".crt"), KeyFile: filepath.Join(a.dir, id.File+".key")}
	if cert, _, err := readPair(pair.CertFile, pair.KeyFile); err == nil && a.stillGood(cert) && certifies(cert, id) {
		return pair, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("generate the key of %q: %w", id.File, err)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: id.User, Organization: id.Groups},
		NotBefore:   a.now().Add(-time.Hour),
		NotAfter:    a.now().Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	template.DNSNames, template.IPAddresses = id.names()
	cert, err := a.sign(template, a.cert, &key.PublicKey)
	if err != nil {
		return Pair{}, err
	}
	return pair, writePair(pair.CertFile, pair.KeyFile, cert, key)
}

func (a *Authority) stillGood(cert *x509.Certificate) bool {
	return cert.CheckSignatureFrom(a.cert) == nil && a.now().Add(renewBefore).Before(cert.NotAfter)
}

// certifies reports whether a certificate says what one of this identity would: another version of the program may have
// issued it.
func certifies(cert *x509.Certificate, id Identity) bool {
	names, addresses := id.names()
	return cert.Subject.CommonName == id.User && slices.Equal(sorted(cert.Subject.Organization), sorted(id.Groups)) &&
		slices.Equal(cert.DNSNames, names) && slices.EqualFunc(cert.IPAddresses, addresses, net.IP.Equal)
}

// sorted is for comparing groups: the organisations of a certificate are a set, which has its own order.
func sorted(groups []string) []string { return slices.Sorted(slices.Values(groups)) }

// names are the identity's hosts, by kind.
func (id Identity) names() (names []string, addresses []net.IP) {
	for _, host := range id.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			addresses = append(addresses, ip)
		} else {
			names = append(names, host)
		}
	}
	return names, addresses
}

func (a *Authority) sign(template, parent *x509.Certificate, key *ecdsa.PublicKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("generate a serial number: %w", err)
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate of %q: %w", template.Subject.CommonName, err)
	}
	return x509.ParseCertificate(der)
}

func readPair(certFile, keyFile string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certDER, err := readPEM(certFile)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := readPEM(keyFile)
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return nil, nil, fmt.Errorf("parse %s: %w", filepath.Base(certFile), err)
	}
	key, err := x509.ParseECPrivateKey(keyDER)
	if err != nil {
		return nil, nil, fmt.Errorf("parse %s: %w", filepath.Base(keyFile), err)
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, nil, fmt.Errorf("use %s: it does not match the certificate %s", filepath.Base(keyFile), filepath.Base(certFile))
	}
	return cert, key, nil
}

func readPEM(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("parse %s: no PEM block found", filepath.Base(path))
	}
	return block.Bytes, nil
}

func writePair(certFile, keyFile string, cert *x509.Certificate, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(keyFile), err)
	}
	if err := state.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})); err != nil {
		return err
	}
	return state.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
}
