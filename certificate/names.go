package certificate

// Names of the Secrets, and the label that says who writes them.
const (
	// AuthoritySecret holds the authority: tls.crt and tls.key sign, ca.crt is the bundle clients should trust.
	AuthoritySecret = "koord-serving-ca"
	// ManagerSecret holds koord-manager's serving certificate.
	ManagerSecret = "koord-manager-serving"
	// SchedulerSecret holds koord-scheduler's serving certificate.
	SchedulerSecret = "koord-scheduler-serving"
	// DeschedulerSecret holds koord-descheduler's serving certificate.
	DeschedulerSecret = "koord-descheduler-serving"
	// BridgeSecret holds koord-bridge's serving certificate.
	BridgeSecret = "koord-bridge-serving"
	// ManagedByLabel says who writes a Secret.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// Manager is the value of ManagedByLabel on Secrets that an Issuer writes.
	Manager = "koord-manager"
	// certManagerPrefix begins the annotations of a Secret that cert-manager writes.
	certManagerPrefix = "cert-manager.io/"
	// AuthorityKey is the key of a Secret under which the bundle to verify its certificate lies.
	AuthorityKey = "ca.crt"
)

// Names says for whom a serving certificate is.
type Names struct {
	// Secret to keep the certificate in.
	Secret string
	// Service in front of the server.
	Service string
	// Namespace of Service and Secret.
	Namespace string
}

// dns lists every name under which a client may reach the service, inside the cluster or on the same machine.
func (n Names) dns() []string {
	qualified := n.Service + "." + n.Namespace
	return []string{n.Service, qualified, qualified + ".svc", qualified + ".svc.cluster.local", "localhost"}
}
