package distribute

// Text returns the Format of a KeyFormat of keyio.
func Text(k KeyFormat) Format { return text{k} }
