package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority is a certificate authority that can sign: the newest certificate of its bundle and its key.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	// bundle is every certificate that may still have signed a certificate in use, in PEM, the signing one first.
	bundle []byte
}

// pair is a certificate and its key in PEM.
type pair struct {
	certificate []byte
	key         []byte
}

// newAuthorityPair makes a self-signed authority that is valid from notBefore for lifetime.
func newAuthorityPair(name string, notBefore time.Time, lifetime time.Duration) (pair, error) {
	template, err := newTemplate(name, notBefore, lifetime)
	if err != nil {
		return pair{}, err
	}
	template.IsCA = true
	template.MaxPathLenZero = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("generate the key of CA %q: %w", name, err)
	}
	return sign(template, template, key, key)
}

// issue makes a serving certificate for the names.
func (a *authority) issue(names Names, notBefore time.Time, lifetime time.Duration) (pair, error) {
	template, err := newTemplate(names.Service, notBefore, lifetime)
	if err != nil {
		return pair{}, err
	}
	if template.NotAfter.After(a.certificate.NotAfter) {
		template.NotAfter = a.certificate.NotAfter
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = names.dns()
	template.IPAddresses = loopback
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("generate the serving key of %q: %w", names.Service, err)
	}
	return sign(template, a.certificate, key, a.key)
}

var loopback = []net.IP{net.IPv4(127, 0, 0, 1).To4(), net.IPv6loopback}

func newTemplate(name string, notBefore time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("generate the serial number of %q: %w", name, err)
	}
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             notBefore.UTC(),
		NotAfter:              notBefore.Add(lifetime).UTC(),
		BasicConstraintsValid: true,
	}, nil
}

func sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey, signer crypto.Signer) (pair, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return pair{}, fmt.Errorf("sign the certificate of %q: %w", template.Subject.CommonName, err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return pair{}, fmt.Errorf("encode the key of %q: %w", template.Subject.CommonName, err)
	}
	return pair{certificate: pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der}), key: keyPEM}, nil
}
