package finding

// Code is a stable finding code, KOORD and four digits. A retired code is never used again.
type Code string

// Codes of the workbench and of the connection to the cluster.
const (
	ClusterUnreachable     Code = "KOORD0001"
	Forbidden              Code = "KOORD0002"
	NotFound               Code = "KOORD0003"
	DiagnosticsUnavailable Code = "KOORD0004"
	SchedulerUnavailable   Code = "KOORD0005"
	NotInstalled           Code = "KOORD0006"
	InvalidArgument        Code = "KOORD0007"
	TerminalTooSmall       Code = "KOORD0008"
	AgentUnavailable       Code = "KOORD0009"
	ContextUnknown         Code = "KOORD0010"
	CertificateRejected    Code = "KOORD0011"
	KubeconfigInvalid      Code = "KOORD0012"
	ManagerUnavailable     Code = "KOORD0013"
	DeschedulerUnavailable Code = "KOORD0014"
)

// Codes of a node's measurements.
const (
	MetricStale   Code = "KOORD0101"
	MetricExpired Code = "KOORD0102"
	MetricAbsent  Code = "KOORD0103"
	MetricInvalid Code = "KOORD0104"
)

// Codes of the slo-controller-config ConfigMap.
const (
	ConfigMalformed    Code = "KOORD0201"
	ConfigOverlap      Code = "KOORD0202"
	ConfigOutOfRange   Code = "KOORD0203"
	ConfigMissing      Code = "KOORD0204"
	ColocationDisabled Code = "KOORD0205"
	OfferBeyondNode    Code = "KOORD0206"
	ConfigUnknownField Code = "KOORD0207"
	ConfigInert        Code = "KOORD0208"
	ConfigConflict     Code = "KOORD0209"
	ConfigUnmatched    Code = "KOORD0210"
	ConfigDuplicate    Code = "KOORD0211"
	ConfigUnconverged  Code = "KOORD0212"
	ConfigTakenOver    Code = "KOORD0213"
	EvictionTooEarly   Code = "KOORD0214"
	ConfigChanged      Code = "KOORD0215"
	EvictionBudget     Code = "KOORD0216"
	ConfigProtected    Code = "KOORD0217"
	// ThresholdLoop means that one component undoes what another does.
	ThresholdLoop Code = "KOORD0218"
	// ThresholdOrder means that a costly remedy comes before a cheap one.
	ThresholdOrder Code = "KOORD0219"
)

// Codes of what the node agent and koord-manager keep.
const (
	// OriginalsDamaged means that what was there before cannot be read.
	OriginalsDamaged Code = "KOORD0301"
	// AgentNotEnforcing means that a node agent cannot limit best-effort pods.
	AgentNotEnforcing Code = "KOORD0302"
	// ProtectionMissing means that an admission policy or webhook configuration of the chart is gone.
	ProtectionMissing Code = "KOORD0303"
	// ProtectionWeakened means that one is not as the chart installed it.
	ProtectionWeakened Code = "KOORD0304"
	// ClaimIgnored is for CPUs and devices that a pod claims and does not get.
	ClaimIgnored Code = "KOORD0305"
	// FeatureUnsupported is for a feature that is configured and that the kernel of a node does not support.
	FeatureUnsupported Code = "KOORD0306"
	// JobInsightDamaged means that what was learned of jobs cannot be read, or only a part of it.
	JobInsightDamaged Code = "KOORD0307"
	// EngineEventsUnread means that an engine does not tell which of its applications or queries ended.
	EngineEventsUnread Code = "KOORD0308"
)

// Codes of the sandbox.
const (
	SandboxBinariesMissing Code = "KOORD0501"
	SandboxPortTaken       Code = "KOORD0502"
	SandboxDiskFull        Code = "KOORD0503"
	SandboxForeignOwner    Code = "KOORD0504"
	SandboxComponentFailed Code = "KOORD0505"
	SandboxNotRunning      Code = "KOORD0506"
	SandboxTraceInvalid    Code = "KOORD0507"
	SandboxRealNode        Code = "KOORD0508"
)

// Codes of installation.
const (
	InstallFailed   Code = "KOORD0601"
	ReleaseNotFound Code = "KOORD0602"
	ReleaseForeign  Code = "KOORD0603"
	KubernetesSkew  Code = "KOORD0604"
)

// Codes of checks of the installation.
const (
	RightsMissing        Code = "KOORD0605"
	DefinitionUnserved   Code = "KOORD0606"
	NodeUnsupported      Code = "KOORD0607"
	ComponentSkew        Code = "KOORD0608"
	InstallationConflict Code = "KOORD0609"
	WorkloadUnavailable  Code = "KOORD0610"
	ContainerRestarts    Code = "KOORD0611"
	ClockSkew            Code = "KOORD0612"
	PortInsecure         Code = "KOORD0613"
)

// Codes of webhooks and serving certificates.
const (
	// BundleInvalid means that the API server cannot verify a server of the system.
	BundleInvalid       Code = "KOORD0621"
	CertificateExpiring Code = "KOORD0622"
	CertificateInvalid  Code = "KOORD0623"
	WebhookUnserved     Code = "KOORD0624"
	// WebhookDeadlock means that a webhook may keep its own server from being started again.
	WebhookDeadlock Code = "KOORD0625"
	WebhookSettings Code = "KOORD0626"
)

// Codes of forecasts of a change to the cluster.
const (
	DrainUnplaced Code = "KOORD0701"
	DrainBlocked  Code = "KOORD0702"
	DrainLoses    Code = "KOORD0703"
	// PlacementRefused means that no node takes a pod of a forecast.
	PlacementRefused Code = "KOORD0704"
)

// Codes of descheduling.
const (
	// MigrationLoop means that a workload was moved back to a node that it had been moved off.
	MigrationLoop Code = "KOORD1501"
	// MigrationTooFrequent means that pods of a workload move too often.
	MigrationTooFrequent Code = "KOORD1502"
)

// Codes of schedulers outside of Kubernetes.
const (
	// EngineUnavailable means that such a scheduler could not be read or told.
	EngineUnavailable Code = "KOORD1601"
	// EngineOverCommitted means that it and the pods of a node use more than there is.
	EngineOverCommitted Code = "KOORD1602"
	// EngineAgentDuplicate means that several of its agents are on one node.
	EngineAgentDuplicate Code = "KOORD1603"
	// AllocationsInvalid means that the annotation with what they took cannot be read.
	AllocationsInvalid    Code = "KOORD1604"
	EngineCapacityNotHeld Code = "KOORD1605"
	BridgeUnavailable     Code = "KOORD1606"
	// EngineWorkRemains means that a node which is drained may still run its work.
	EngineWorkRemains Code = "KOORD1607"
)

// Codes of elastic workers.
const (
	// WorkersTargetShared means that two ElasticWorkers have one target.
	WorkersTargetShared Code = "KOORD1701"
	// WorkersTargetAutoscaled means that a HorizontalPodAutoscaler scales the target.
	WorkersTargetAutoscaled Code = "KOORD1702"
	// WorkersTargetUnusable means that the target cannot be scaled.
	WorkersTargetUnusable Code = "KOORD1703"
	// WorkersDrainLate means that a worker had not finished at its deadline.
	WorkersDrainLate Code = "KOORD1704"
)

// Codes of scheduling refusals by the system's own plugins.
const (
	LoadMetricExpired      Code = "KOORD1101"
	LoadThresholdExceeded  Code = "KOORD1102"
	LoadAggregatedExceeded Code = "KOORD1103"
)

// Codes of CPU binding and NUMA alignment.
const (
	CPUsNotInteger           Code = "KOORD1111"
	CPUTopologyInvalid       Code = "KOORD1112"
	CPUsNotWholeCores        Code = "KOORD1113"
	CPUBindPolicyConflict    Code = "KOORD1114"
	AmplificationInvalid     Code = "KOORD1115"
	CPUsExhausted            Code = "KOORD1116"
	CPUBindPolicyUnsatisfied Code = "KOORD1117"
	NUMAZonesMissing         Code = "KOORD1118"
	NUMAZonesInsufficient    Code = "KOORD1119"
	NUMAPolicyMismatch       Code = "KOORD1120"
	NUMAResourceInsufficient Code = "KOORD1121"
	NUMAResourceUnsatisfied  Code = "KOORD1122"
	NUMAUnaligned            Code = "KOORD1123"
	AmplifiedCPUInsufficient Code = "KOORD1124"
	CPUSpecInvalid           Code = "KOORD1125"
)

// Codes of device sharing.
const (
	DeviceRequestInvalid        Code = "KOORD1131"
	DevicesInsufficient         Code = "KOORD1132"
	DeviceFunctionsInsufficient Code = "KOORD1133"
	GPUPartitionsInsufficient   Code = "KOORD1134"
	GPUPartitionTableMissing    Code = "KOORD1135"
	GPUPartitionSizeUnknown     Code = "KOORD1136"
	DeviceScopeInsufficient     Code = "KOORD1137"
	DeviceTopologyMissing       Code = "KOORD1138"
	DeviceJointViolation        Code = "KOORD1139"
	GPUTemplateUnmatched        Code = "KOORD1140"
	GPUIsolationMissing         Code = "KOORD1141"
	GPUShareUnsupported         Code = "KOORD1142"
	DeviceNUMAInsufficient      Code = "KOORD1143"
	DeviceStray                 Code = "KOORD1144"
	DevicePluginBusy            Code = "KOORD1145"
	DevicePluginUnfit           Code = "KOORD1146"
)

// Codes of reservations.
const (
	ReservationAffinityUnmatched Code = "KOORD1151"
	ReservationUnfit             Code = "KOORD1152"
	ReservationNodeMismatch      Code = "KOORD1153"
	ReservationInactive          Code = "KOORD1154"
	ReservationPolicyConflict    Code = "KOORD1155"
	ReservationNameMismatch      Code = "KOORD1156"
	ReservationConsumed          Code = "KOORD1157"
	ReservationUnschedulable     Code = "KOORD1158"
	ReservationTainted           Code = "KOORD1159"
	ReservationNotExact          Code = "KOORD1160"
	ReservationInsufficient      Code = "KOORD1161"
	ReservationNodeInsufficient  Code = "KOORD1162"
	PreAllocationInvalid         Code = "KOORD1163"
	ReservationWishInvalid       Code = "KOORD1164"
)

// Codes of gangs.
const (
	GangNotFound            Code = "KOORD1171"
	GangMembersMissing      Code = "KOORD1172"
	GangGroupMissing        Code = "KOORD1173"
	GangMemberRefused       Code = "KOORD1174"
	GangInvalid             Code = "KOORD1176"
	GangTopologyUnsatisfied Code = "KOORD1177"
	GangTopologyInvalid     Code = "KOORD1178"
)

// Codes of usage classes.
const (
	UsageClassShare Code = "KOORD1221"
	UsageClassPods  Code = "KOORD1222"
)

// Codes of scheduling hints, and of those that koord-manager writes for query engines.
const (
	SchedulingHintMismatch Code = "KOORD1231"
	SchedulingHintInvalid  Code = "KOORD1232"
	QueryHintUnmeasured    Code = "KOORD1233"
	QueryHintHot           Code = "KOORD1234"
)

// Codes of elastic quotas.
const (
	QuotaMaxExceeded            Code = "KOORD1201"
	QuotaShareExceeded          Code = "KOORD1202"
	QuotaNonPreemptibleExceeded Code = "KOORD1203"
	QuotaParentExceeded         Code = "KOORD1204"
	QuotaUnknown                Code = "KOORD1205"
	QuotaCycle                  Code = "KOORD1206"
	QuotaParentMissing          Code = "KOORD1207"
	QuotaNameTaken              Code = "KOORD1208"
	QuotaMinOvercommitted       Code = "KOORD1209"
	QuotaInvalid                Code = "KOORD1210"
	QuotaOverused               Code = "KOORD1211"
	QuotaKeysMismatch           Code = "KOORD1212"
	QuotaAboveMax               Code = "KOORD1213"
	QuotaUncounted              Code = "KOORD1214"
	QuotaBeyondTotal            Code = "KOORD1215"
	QuotaFiguresDiffer          Code = "KOORD1216"
)

// Codes of the admission of pods.
const (
	AdmissionPriorityClassMissing Code = "KOORD1301"
	AdmissionProfileFailed        Code = "KOORD1302"
	AdmissionClassForbidden       Code = "KOORD1303"
	AdmissionBatchNeedsBE         Code = "KOORD1304"
	AdmissionFieldImmutable       Code = "KOORD1305"
	AdmissionReservePod           Code = "KOORD1306"
	AdmissionParentQuota          Code = "KOORD1307"
	AdmissionAmountLeft           Code = "KOORD1308"
	AdmissionTierMismatch         Code = "KOORD1309"
	AdmissionQuotaMissing         Code = "KOORD1310"
	AdmissionAllocation           Code = "KOORD1311"
	EvictionElsewhere             Code = "KOORD1312"
	EvictionBudgetCluster         Code = "KOORD1313"
	AdmissionQuotaForeign         Code = "KOORD1314"
	AdmissionSoftEviction         Code = "KOORD1315"
	AdmissionDiffers              Code = "KOORD1316"
	EvictionWithoutReservation    Code = "KOORD1317"
	AdmissionLoweredLimits        Code = "KOORD1318"
)

// Codes of the admission of elastic quotas.
const (
	QuotaBuiltIn          Code = "KOORD1321"
	QuotaHasChildren      Code = "KOORD1322"
	QuotaHasPods          Code = "KOORD1323"
	QuotaTreeImmutable    Code = "KOORD1324"
	QuotaTreeMismatch     Code = "KOORD1325"
	QuotaParentUnfit      Code = "KOORD1326"
	QuotaNamespaceTaken   Code = "KOORD1327"
	QuotaMaxBelowUsed     Code = "KOORD1328"
	QuotaGuaranteeLacking Code = "KOORD1329"
	QuotaProfileInvalid   Code = "KOORD1330"
	QuotaProfileBlocked   Code = "KOORD1331"
	QuotaParentNamespaces Code = "KOORD1332"
	QuotaRightLacking     Code = "KOORD1333"
)

// Codes of scheduling refusals by Kubernetes' own plugins.
const (
	InsufficientResources Code = "KOORD1901"
	UntoleratedTaint      Code = "KOORD1902"
	NodeAffinityMismatch  Code = "KOORD1903"
	NodeUnschedulable     Code = "KOORD1904"
	NodeNameMismatch      Code = "KOORD1905"
	PortConflict          Code = "KOORD1906"
	TopologySpread        Code = "KOORD1907"
	PodAffinity           Code = "KOORD1908"
	VolumeBinding         Code = "KOORD1909"
	VolumeZone            Code = "KOORD1910"
	VolumeLimits          Code = "KOORD1911"
	VolumeRestrictions    Code = "KOORD1912"
	DynamicResources      Code = "KOORD1913"
	SchedulingGated       Code = "KOORD1914"
	OtherScheduler        Code = "KOORD1915"
	PluginPanicked        Code = "KOORD1916"
	KueueNotAdmitted      Code = "KOORD1917"
	KueueUnresponsive     Code = "KOORD1918"
	OtherPlugin           Code = "KOORD1999"
)
