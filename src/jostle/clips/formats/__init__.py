"""One file a format, reading and writing together; glTF has a folder. What several of them share lies beside them."""
