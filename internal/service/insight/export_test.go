package insight

// OwnHostFacts is ownHostFacts for tests.
var OwnHostFacts = ownHostFacts
